import { Writable } from 'node:stream';
import { Problem, sleep } from '#src/kernel/index.js';
import { principalNow, type Principal } from '#src/auth/index.js';
import type { JobAccess } from '../access/job-access.service.js';
import type { OutputReads } from '../matching/output-reads.js';
import type { JobSandboxesService } from '../sandbox/job-sandboxes.service.js';
import type { Job } from '../state/job.entity.js';
import type { FollowSink, OutputPosition } from './follow-sinks.js';
import { placeOf } from './output-place.js';

const CHUNK_BYTES = 256 * 1024;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 1_000;
const REST_MS = 15_000;
/** While the database or the instance of the job is away; then whoever follows has to ask again. */
const AWAY_MS = 60_000;

/** What is followed, by whom. */
export interface Following {
  principal: Principal;
  job: Job;
  name: string;
  /** Where to go on. */
  from: OutputPosition;
  /** Aborts when the client is gone or the service stops. */
  signal: AbortSignal;
}

/** What following needs of the service. */
export interface FollowParts {
  access: JobAccess;
  reads: OutputReads;
  sandboxes: JobSandboxesService;
}

/** What one look at the job has brought: a full piece, less, nothing, or the end. */
type Step = 'more' | 'some' | 'nothing' | 'over';

/**
 * Sends what a job writes into a file, from one place of it on, until the job has ended: from where the job writes while
 * it runs, the rest from its output sandbox. The right to read is looked at before each piece.
 */
export class OutputFollower {
  private at: OutputPosition;
  private file: string | undefined;
  private sentAt = Date.now();
  private heardAt = Date.now();

  constructor(
    private readonly parts: FollowParts,
    private readonly following: Following,
    private readonly sink: FollowSink,
  ) {
    this.at = following.from;
  }

  /** Done when all has been sent, or nobody may or wants to go on. */
  async run(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      const step = await this.stepWhenPossible();
      if (step === 'over') return;
      if (step === 'more') continue;
      pause = step === 'some' ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pause * 2);
      if (Date.now() - this.sentAt > REST_MS) await this.sent(() => this.sink.rest());
      const { signal } = this.following;
      await sleep(pause, { signal });
    }
  }

  private async stepWhenPossible(): Promise<Step> {
    const { signal } = this.following;
    signal.throwIfAborted();
    try {
      const step = await this.step();
      this.heardAt = Date.now();
      return step;
    } catch (error) {
      signal.throwIfAborted();
      const isAway = error instanceof Problem && error.status === 503;
      if (!isAway || Date.now() - this.heardAt > AWAY_MS) throw error;
      return 'nothing';
    }
  }

  private async step(): Promise<Step> {
    const job = await this.jobNow();
    if (!job) {
      await this.sink.end({ reason: 'not allowed any more' });
      return 'over';
    }
    const place = placeOf(job);
    if (place === 'nowhere yet') return 'nothing';
    if (job.attempt !== this.at.attempt) await this.restart(job.attempt);
    if (place === 'run') return this.sendOfRun(job);
    await this.sendOfSandbox(job);
    await this.sink.end({ reason: 'job ended', status: job.status });
    return 'over';
  }

  /** The job, as long as the token is good for it. */
  private async jobNow(): Promise<Job | undefined> {
    const { principal, job } = this.following;
    const now = await principalNow(principal);
    if (!now || ![...principal.scopes].every((scope) => now.scopes.has(scope))) return undefined;
    return this.parts.access.stillReadsSandbox(now, job);
  }

  private async sendOfRun(job: Job): Promise<Step> {
    const { name } = this.following;
    const wish = { name, start: this.at.position, mostBytes: CHUNK_BYTES };
    const part = await this.parts.reads.read(job.jid, wish);
    if (!part) return 'nothing';
    const isAnother = this.file !== undefined && this.file !== part.file;
    if (isAnother || part.sizeBytes < this.at.position) {
      await this.restart(job.attempt);
      return 'more';
    }
    this.file = part.file;
    if (part.content.length === 0) return 'nothing';
    await this.send(part.content);
    return part.content.length < CHUNK_BYTES ? 'some' : 'more';
  }

  private async sendOfSandbox(job: Job): Promise<void> {
    const { name } = this.following;
    const file = await this.parts.sandboxes.fileOf(job, 'outputsandbox', name).catch(isMissing);
    if (!file || file.sizeBytes === this.at.position) return;
    if (file.sizeBytes < this.at.position) await this.restart(job.attempt);
    const write = (chunk: Buffer, _encoding: string, done: (error?: Error) => void): void => {
      this.send(chunk).then(() => done(), done);
    };
    const range = { start: this.at.position, end: file.sizeBytes - 1 };
    await file.send(range, new Writable({ write }));
  }

  private async send(content: Buffer): Promise<void> {
    const from = this.at;
    this.at = { ...from, position: from.position + content.length };
    await this.sent(() => this.sink.send(content, from));
  }

  private async restart(attempt: number): Promise<void> {
    const hasBegun = this.at.position > 0;
    this.at = { attempt, position: 0 };
    this.file = undefined;
    if (hasBegun) await this.sent(() => this.sink.restart(attempt));
  }

  private async sent(work: () => Promise<void>): Promise<void> {
    await work();
    this.sentAt = Date.now();
  }
}

/** The job has kept nothing of that name: then there is nothing more to send. */
function isMissing(error: unknown): undefined {
  if (error instanceof Problem && error.status === 404) return undefined;
  throw error;
}
