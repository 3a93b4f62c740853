import { sleep, stringifyJson } from '#src/kernel/index.js';
import type { Logger } from '#src/runtime/index.js';
import type { ReportAnswer, RunReport } from '#src/jobs/index.js';
import { untilAnswered } from './retry.js';
import { RefusedError } from './worker-link.js';

const MOST_REPORTS = 200;
/** Below the 512 KiB that a body may have. */
const MOST_BYTES = 480 * 1024;
const [BAD, TOO_LARGE] = [400, 413];
/** A report that could not be written now is sent again after so long. */
const UNWRITTEN_MS = 500;

/** An answer to a report, and when the report was sent, by `secondsOfBoot`. */
export type Answered = ReportAnswer & { sentAt: number };

interface Pending {
  report: RunReport;
  size: number;
  resolve: (answer: Answered) => void;
  reject: (error: unknown) => void;
}

/** What sends reports. */
export interface ReportPost {
  send: (reports: RunReport[]) => Promise<ReportAnswer[]>;
  logger: Logger;
  /** Seconds of a clock that goes on while the machine sleeps. */
  secondsOfBoot: () => number;
  signal: AbortSignal;
}

/**
 * Reports on their way: those that come while one request is under way go together with the next. Each is repeated until the
 * service has answered it.
 */
export class RunReportBox {
  private pending: Pending[] = [];
  private isSending = false;
  private most = MOST_REPORTS;

  /** Between two requests passes `pauseMs`, in which reports gather. */
  constructor(
    private readonly post: ReportPost,
    private readonly pauseMs = 0,
  ) {}

  /** Resolves with the answer, whenever that comes. Rejects when the worker ends. */
  async send(report: RunReport): Promise<Answered> {
    const size = stringifyJson(report).length * 3; // bytes of a character at most
    return new Promise((resolve, reject) => {
      this.pending.push({ report, size, resolve, reject });
      void this.sendAll();
    });
  }

  private async sendAll(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    try {
      while (this.pending.length > 0) {
        await this.sendSome(this.take());
        if (this.pauseMs > 0) await sleep(this.pauseMs, { signal: this.post.signal });
      }
      this.most = MOST_REPORTS;
    } catch (error) {
      for (const { reject } of this.pending.splice(0)) reject(error);
    } finally {
      this.isSending = false;
    }
  }

  private take(): Pending[] {
    let bytes = 0;
    let count = 0;
    for (const { size } of this.pending) {
      bytes += size;
      if (count > 0 && (bytes > MOST_BYTES || count >= this.most)) break;
      count += 1;
    }
    return this.pending.splice(0, count);
  }

  private async sendSome(some: Pending[]): Promise<void> {
    let sentAt = 0;
    const send = async (): Promise<ReportAnswer[]> => {
      sentAt = this.post.secondsOfBoot();
      return this.post.send(some.map(({ report }) => report));
    };
    let answers: ReportAnswer[];
    try {
      answers = await untilAnswered(send, this.post.signal);
    } catch (error) {
      if (error instanceof RefusedError) {
        this.onRefused(some, error);
        return;
      }
      for (const { reject } of some) reject(error);
      throw error;
    }
    const byRun = new Map(answers.map((answer) => [answer.run, answer]));
    for (const one of some) {
      const answer = byRun.get(one.report.run);
      if (answer) one.resolve({ ...answer, sentAt });
      else this.pending.push(one);
    }
    const isUnwritten = some.some(({ report }) => !byRun.has(report.run));
    if (isUnwritten) await sleep(UNWRITTEN_MS, { signal: this.post.signal });
  }

  /** One bad report fails no other: they are sent one by one, and the bad one is given up. */
  private onRefused(some: Pending[], error: RefusedError): void {
    if (error.status !== BAD && error.status !== TOO_LARGE) {
      for (const { reject } of some) reject(error);
      return;
    }
    if (some.length > 1) {
      this.most = error.status === BAD ? 1 : Math.floor(some.length / 2);
      this.pending.unshift(...some);
      return;
    }
    for (const { report, resolve } of some) {
      const { run, kind } = report;
      this.post.logger.error({ err: error, run, kind }, 'the service refuses a report');
      resolve({ run, forget: true, sentAt: 0 });
    }
  }
}
