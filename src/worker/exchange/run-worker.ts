import { setMaxListeners } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { Problem, sleep, systemClock } from '#src/kernel/index.js';
import { Session } from '#src/http-client/index.js';
import type { Logger } from '#src/runtime/index.js';
import type { ReportAnswer, RunReport, WorkerFacts } from '#src/jobs/index.js';
import { isAway, type RunOrder } from '#src/jobs/run/index.js';
import type { IsolationLevel } from '../isolation/isolation.js';
import { bootId } from '../runs/local-context.js';
import { LocalProcessExecutor } from '../runs/local-process.executor.js';
import type { Machine } from '../runs/machine-load.js';
import type { WorkerConfig } from '../runs/worker-config.js';
import { secondsOfBoot } from '../watch/process-table.js';
import { ClaimLoop } from './claim-loop.js';
import { RemoteRunService } from './remote-run-service.js';
import { type ClaimedOrder, orderText } from './run-order.js';
import { RunReportBox } from './run-reports.js';
import { WorkerGoneError, type WorkerLink, WorkerStartError } from './worker-link.js';

/** Ends of runs that come together go together; the first one goes at once. */
const ENDS_GATHER_MS = 50;
/** A worker that ends tells the service for so long what it gives back. */
const CLOSING_MS = 5_000;
/** Programs of a worker that is gone are ended within this time. */
const ENDING_SECONDS = 30;
const ENDING_LOOK_MS = 500;
const LIFE_LOOK_MS = 1_000;

/** A worker, as it is told to be. */
export interface WorkerSettings {
  /** Its own directory. */
  directory: string;
  /** Limits of its jobs and how they are kept apart, with the directory in which they run. */
  config: WorkerConfig;
  /** What jobs may have of the machine. */
  machine: Machine;
  tags: string[];
  /** Jobs of sites that give them the network may have that of this machine. */
  allowsNetwork: boolean;
  /** Milliseconds without a run after which it ends; left out: never. */
  idleMs?: number | undefined;
  /** Milliseconds from the start after which it drains; left out: never. */
  lifetimeMs?: number | undefined;
  logger: Logger;
  /** Has the service know the worker, as which it says this of its machine. */
  connect: (facts: WorkerFacts, signal: AbortSignal) => Promise<WorkerLink>;
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
  const storageCa = await trustFile(settings);
  const worker = new Worker(settings, { spool, storageCa, signal: closing.signal });
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

/** A file with the CAs of GRID_STORAGE_CA and those that Node.js trusts; undefined for these alone. */
async function trustFile({ directory, config }: WorkerSettings): Promise<string | undefined> {
  const { storageCa } = config;
  if (storageCa === undefined) return undefined;
  const path = join(directory, 'spool', 'storage-ca.pem');
  try {
    await writeFile(path, [...rootCertificates, await readFile(storageCa, 'utf8')].join('\n'));
    return path;
  } catch (error) {
    const text = `GRID_STORAGE_CA ${storageCa} cannot be read`;
    throw new WorkerStartError(text, undefined, error);
  }
}

/** What a worker has before its parts. */
interface WorkerPlace {
  spool: string;
  /** File with the CAs of storage elements; undefined for those that Node.js trusts. */
  storageCa: string | undefined;
  signal: AbortSignal;
}

/** The parts of a worker, and the order in which they begin and end. */
class Worker {
  private readonly executor: LocalProcessExecutor;
  private readonly service: RemoteRunService;
  private link: WorkerLink | undefined;
  private isOpen = false;
  private readonly sinceSeconds = secondsOfBoot();

  constructor(
    private readonly settings: WorkerSettings,
    { spool, storageCa, signal }: WorkerPlace,
  ) {
    const { config, logger, machine, allowsNetwork } = settings;
    const link = (): WorkerLink => this.whenConnected();
    const send = async (reports: RunReport[]): Promise<ReportAnswer[]> => {
      const answer = await link().json<{ answers: ReportAnswer[] }>('POST', '/reports', {
        json: { reports },
        signal,
      });
      if (Array.isArray(answer.answers)) return answer.answers;
      throw Problem.unavailable('The answer is none of the service', { retryAfterSeconds: 0 });
    };
    const post = { send, logger, secondsOfBoot, signal };
    this.service = new RemoteRunService({
      link,
      starts: new RunReportBox(post),
      ends: new RunReportBox(post, ENDS_GATHER_MS),
      ...{ spool, allowsNetwork, secondsOfBoot, signal },
    });
    const boot = bootId();
    const verify = storageCa ?? true;
    const openStorage = (): Session =>
      new Session({ verify, default_timeout: config.storageTimeout, use_netrc: false });
    this.executor = new LocalProcessExecutor({
      ...{ config, logger, machine, clock: systemClock, service: this.service },
      openStorage,
      storageCa: verify,
      orderText: (order: RunOrder) => orderText(order as ClaimedOrder, boot),
    });
  }

  async run({ stop, drain }: WorkerSignals): Promise<'drained' | 'idle'> {
    const { logger, idleMs = Infinity, onReady, connect } = this.settings;
    const isolation = await this.open();
    const link = await this.connected(() => connect(this.factsOf(isolation), stop));
    const { executor, service } = this;
    const loop = new ClaimLoop({ executor, service, link, logger, idleMs, signal: stop });
    const life = setInterval(() => {
      if (this.secondsLeft() > 0) return;
      clearInterval(life);
      loop.drain();
    }, LIFE_LOOK_MS);
    const onDrain = (): void => loop.drain();
    drain.addEventListener('abort', onDrain);
    if (drain.aborted) onDrain();
    onReady({ id: link.id, isolation });
    try {
      const end = await loop.run();
      await this.leave(link, stop);
      return end;
    } catch (error) {
      if (error instanceof WorkerGoneError) await this.endAll(link);
      throw error;
    } finally {
      clearInterval(life);
    }
  }

  async close(): Promise<void> {
    if (this.isOpen) await this.executor.close();
    await this.link?.close();
  }

  private async open(): Promise<IsolationLevel> {
    try {
      const level = await this.executor.open();
      this.isOpen = true;
      return level;
    } catch (error) {
      throw new WorkerStartError((error as Error).message, undefined, error);
    }
  }

  /** Of one that the service does not know any more nobody waits for what an earlier process has left. */
  private async connected(connect: () => Promise<WorkerLink>): Promise<WorkerLink> {
    try {
      return (this.link = await connect());
    } catch (error) {
      const isGone = error instanceof WorkerStartError && error.cause instanceof WorkerGoneError;
      if (isGone) await this.executor.reconcile([]);
      throw error;
    }
  }

  /** While the service is away it is left without a word: it finds out by the silence. */
  private async leave(link: WorkerLink, stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(CLOSING_MS)]);
    try {
      await link.leave(signal);
    } catch (error) {
      if (!isAway(error) && !signal.aborted) throw error;
      this.settings.logger.warn({ err: error }, 'the service does not hear of the end');
    }
  }

  private factsOf(isolation: IsolationLevel): WorkerFacts {
    const { machine, tags, config } = this.settings;
    const { hasMemoryGroups: memoryCgroup } = this.executor;
    const whole = { ...machine, gpus: machine.gpus.length, wallSeconds: config.jobWallTime };
    const lifeSeconds = Math.max(0, Math.floor(this.secondsLeft()));
    return {
      ...{ ...whole, isolation, memoryCgroup },
      ...(tags.length > 0 && { tags }),
      ...(lifeSeconds < Infinity && { lifeSeconds }),
    };
  }

  private secondsLeft(): number {
    const { lifetimeMs = Infinity } = this.settings;
    return lifetimeMs / 1000 - (secondsOfBoot() - this.sinceSeconds);
  }

  /** Nobody waits for its runs any more. */
  private async endAll(link: WorkerLink): Promise<void> {
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
    await link.forget();
  }

  private whenConnected(): WorkerLink {
    if (!this.link) throw new Error('the service does not know the worker yet');
    return this.link;
  }
}
