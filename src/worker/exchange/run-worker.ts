import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { Problem, sleep, systemClock } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import type { Logger, RunningTask, ScheduledTask, TaskRound } from '#src/runtime/index.js';
import type { ReportAnswer, RunReport, WorkerFacts } from '#src/jobs/index.js';
import { isAway, type RunOrder } from '#src/jobs/run/index.js';
import type { IsolationReport } from '../isolation/isolation.js';
import { bootId } from '../runs/local-context.js';
import { LocalProcessExecutor } from '../runs/local-process.executor.js';
import type { Share } from '../runs/machine-load.js';
import { ClaimLoop } from './claim-loop.js';
import { RemoteRunService } from './remote-run-service.js';
import { type ClaimedOrder, orderText } from './run-order.js';
import { RunReportBox } from './run-reports.js';
import { ClaimNumbers, forgetEnrolment } from './worker-identity.js';
import {
  type Registration,
  WorkerGoneError,
  WorkerSession,
  WorkerStartError,
} from './worker-session.js';

/** Ends of runs that come together go together; the first one goes at once. */
const ENDS_GATHER_MS = 50;
/** A worker that ends tells the service for so long what it gives back. */
const CLOSING_MS = 5_000;
/** Programs of a worker that is gone are ended within this time. */
const ENDING_SECONDS = 30;
const ENDING_LOOK_MS = 500;

/** A worker, as it is told to be. */
export interface WorkerSettings extends Omit<Registration, 'facts' | 'signal'> {
  /** Limits of its jobs and how they are kept apart; its home is the directory of the worker. */
  config: Config;
  /** What jobs may have of the machine. */
  machine: Share;
  tags: string[];
  /** Jobs of sites that give them the network may have that of this machine. */
  allowsNetwork: boolean;
  /** Milliseconds without a run after which it ends; Infinity for never. */
  idleMs: number;
  /** Told when it can take runs. */
  onReady: (worker: { id: string; isolation: string }) => void;
}

/** How a worker is told to end. */
export interface WorkerSignals {
  /** Aborts when it is to end now: what it has not begun goes back, programs go on, and it is found again at the next start. */
  stop: AbortSignal;
  /** Aborts when it is to take nothing more and to end when it has no run. */
  drain: AbortSignal;
}

/**
 * Runs jobs of a site until the worker is drained, idle, or told to end. Throws WorkerStartError, WorkerGoneError and
 * OutdatedClaimsError.
 */
export async function runWorker(
  settings: WorkerSettings,
  signals: WorkerSignals,
): Promise<'drained' | 'idle' | 'stopped'> {
  const spool = join(settings.directory, 'spool');
  await rm(spool, { recursive: true, force: true });
  await mkdir(spool, { recursive: true, mode: 0o700 });
  const closing = new AbortController();
  setMaxListeners(0, closing.signal, signals.stop); // each request that waits has one
  const worker = new Worker(settings, { spool, signal: closing.signal });
  try {
    return await worker.run(signals);
  } catch (error) {
    if (signals.stop.aborted) return 'stopped';
    throw error;
  } finally {
    const late = setTimeout(() => closing.abort(new Error('the worker ends')), CLOSING_MS);
    await worker.close();
    clearTimeout(late);
  }
}

/** The parts of a worker, and the order in which they begin and end. */
class Worker {
  private readonly executor: LocalProcessExecutor;
  private readonly service: RemoteRunService;
  private report: IsolationReport | undefined;
  private session: WorkerSession | undefined;
  private numbers: ClaimNumbers | undefined;
  private isOpen = false;

  constructor(
    private readonly settings: WorkerSettings,
    { spool, signal }: { spool: string; signal: AbortSignal },
  ) {
    const { config, logger, machine, allowsNetwork } = settings;
    const session: Pick<WorkerSession, 'request' | 'json'> = {
      request: (...request) => this.whenRegistered().request(...request),
      json: (...request) => this.whenRegistered().json(...request),
    };
    const leaseSeconds = (): number => this.whenRegistered().leaseSeconds;
    const send = async (reports: RunReport[]): Promise<ReportAnswer[]> => {
      const answer = await session.json<{ answers: ReportAnswer[] }>('POST', '/reports', {
        json: { reports },
        signal,
      });
      if (Array.isArray(answer.answers)) return answer.answers;
      throw Problem.unavailable('The answer is none of the service', { retryAfterSeconds: 0 });
    };
    const post = { send, logger, secondsOfBoot, signal };
    this.service = new RemoteRunService({
      ...{
        session,
        leaseSeconds,
        starts: new RunReportBox(post),
        ends: new RunReportBox(post, ENDS_GATHER_MS),
      },
      ...{ spool, allowsNetwork, secondsOfBoot, signal },
    });
    const boot = bootId();
    this.executor = new LocalProcessExecutor({
      ...{ config, logger, machine, clock: systemClock },
      scheduler: { add: (task) => rounds(task, logger) },
      serviceOf: () => this.service,
      onIsolation: (report) => (this.report = report),
      onFault: () => undefined,
      orderText: (order: RunOrder) => orderText(order as ClaimedOrder, boot),
    });
  }

  async run({ stop, drain }: WorkerSignals): Promise<'drained' | 'idle'> {
    const { directory, logger, idleMs, onReady } = this.settings;
    this.isOpen = await this.executor.open();
    const isolation = this.report?.level ?? 'off';
    if (!this.isOpen || isolation === 'off') {
      throw new WorkerStartError(this.report?.reason ?? 'jobs cannot run on this machine');
    }
    const facts = { ...this.factsOf(), isolation };
    this.session = await this.registered({ ...this.settings, facts, signal: stop });
    this.numbers = await ClaimNumbers.open(directory);
    const { session, numbers, executor, service } = this;
    const loop = new ClaimLoop({
      ...{ executor, service, session, numbers, logger, idleMs, signal: stop },
    });
    const onDrain = (): void => loop.drain();
    drain.addEventListener('abort', onDrain);
    if (drain.aborted) onDrain();
    onReady({ id: session.id, isolation });
    try {
      const end = await loop.run();
      await this.leave(session, stop);
      return end;
    } catch (error) {
      if (error instanceof WorkerGoneError) await this.endAll();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.isOpen) await this.executor.close();
    await this.numbers?.close();
    await this.session?.close();
  }

  /** Of one that the service does not know any more nobody waits for what an earlier process has left. */
  private async registered(registration: Registration): Promise<WorkerSession> {
    try {
      return await WorkerSession.open(registration);
    } catch (error) {
      const isGone = error instanceof WorkerStartError && error.cause instanceof WorkerGoneError;
      if (isGone) await this.executor.reconcile([]);
      throw error;
    }
  }

  /** While the service is away it is left without a word: it finds out by the silence. */
  private async leave(session: WorkerSession, stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(CLOSING_MS)]);
    try {
      await session.leave(signal);
      await forgetEnrolment(this.settings.directory);
    } catch (error) {
      if (!isAway(error) && !signal.aborted) throw error;
      this.settings.logger.warn({ err: error }, 'the service does not hear of the end');
    }
  }

  private factsOf(): WorkerFacts {
    const { machine, tags } = this.settings;
    return { ...machine, ...(tags.length > 0 && { tags }), memoryCgroup: false };
  }

  /** Nobody waits for its runs any more. */
  private async endAll(): Promise<void> {
    const { executor, service } = this;
    const until = secondsOfBoot() + ENDING_SECONDS;
    while ([...executor.current].length > 0 && secondsOfBoot() < until) {
      for (const run of executor.current) {
        service.forget(run.order);
        executor.cancel(run.key); // again, as what is started this moment cannot be seen
      }
      await sleep(ENDING_LOOK_MS);
    }
    await executor
      .reconcile([])
      .catch((error: unknown) =>
        this.settings.logger.error({ err: error }, 'what runs have left is not removed'),
      );
    await forgetEnrolment(this.settings.directory);
  }

  private whenRegistered(): WorkerSession {
    if (!this.session) throw new Error('the worker is not registered yet');
    return this.session;
  }
}

/** Of a clock that goes on while the machine sleeps, and that nobody sets. */
function secondsOfBoot(): number {
  try {
    return Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
  } catch {
    return uptime();
  }
}

/** Work that is done again and again; a round that fails is logged, and the next one comes. */
function rounds(task: ScheduledTask, logger: Logger): RunningTask {
  const stopped = new AbortController();
  const round = { signal: stopped.signal } as TaskRound;
  const all = (async () => {
    while (!stopped.signal.aborted) {
      await Promise.resolve(task.run(round)).catch((error: unknown) =>
        logger.error({ err: error, task: task.name }, 'a round of a task failed'),
      );
      await sleep(task.everyMs, { signal: stopped.signal, unref: true }).catch(() => undefined);
    }
  })();
  return {
    wake: () => undefined,
    runNow: async () => (await task.run(round)) ?? undefined,
    stop: async () => {
      stopped.abort();
      await all;
    },
  };
}
