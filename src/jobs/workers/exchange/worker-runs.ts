import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { type Clock, CLOCK, Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import type { HeldJob, RunOrder } from '../../run/executor.js';
import { RunFault } from '../../run/run-plan.js';
import { RUN_OUTCOMES, type RunOutcomesOf } from '../../run/run-outcomes.js';
import type { RunService } from '../../run/run-service.js';
import { DispatchRepository } from '../../matching/dispatch.repository.js';
import { OutputReadsRepository } from '../../matching/output-reads.repository.js';
import { parseJid } from '../../state/job.js';
import { JobMetrics } from '../../state/job-metrics.js';
import { backendOf, executorOf, isOwn } from '../worker.js';
import type { WorkerEntity } from '../worker.entity.js';
import { WorkerRunsRepository, type HeldState } from './worker-runs.repository.js';
import type {
  ClaimAnswer,
  ClaimedRun,
  ClaimedToken,
  ClaimRequest,
  OutputRead,
  RunKey,
} from './protocol.js';

/** Runs whose tokens and input data are fetched at once. */
const PREPARED_AT_ONCE = 8;
/** Runs that are handed over again in one answer. */
const MOST_AGAIN = 200;
/** Questions for output in one answer. */
const MOST_READS = 20;
const NOT_NAMED = 'Nothing is left of the run on its machine';

/** Name of a run in the exchanges. */
export function runKey({ jid, attempt }: Pick<RunOrder, 'jid' | 'attempt'>): RunKey {
  return `${jid}.${attempt}`;
}

/**
 * True where nothing keeps jobs from each other and from the worker. On the service's machine whoever runs the service has asked for
 * that by GRID_LOCAL_ISOLATION.
 */
export function isForOneOwner(worker: WorkerEntity): boolean {
  const { isolation } = worker.facts;
  return !isOwn(worker) && (isolation === undefined || isolation === 'none');
}

/** The runs of workers: what they are told of them, and what they hold. */
@Injectable()
export class WorkerRuns {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(RUN_OUTCOMES) private readonly outcomesOf: RunOutcomesOf,
    private readonly metrics: JobMetrics,
    private readonly repository: DispatchRepository,
    private readonly claims: WorkerRunsRepository,
    private readonly reads: OutputReadsRepository,
  ) {}

  /** What becomes of the runs of a worker. */
  serviceOf(worker: WorkerEntity): RunService {
    return this.outcomesOf({ id: executorOf(worker), source: backendOf(worker) });
  }

  /** The jobs of these runs that the worker holds, by the names of the runs. */
  async heldOf(worker: WorkerEntity, runs: readonly RunKey[]): Promise<Map<RunKey, HeldJob>> {
    const jids = runs.flatMap((run) => parseJid(run.split('.')[0] ?? '') ?? []);
    const held = await this.repository.heldJobs(executorOf(worker), jids);
    return new Map(held.map((job) => [runKey(job), job]));
  }

  /** The job of a run as it is now; undefined when the worker does not hold it in this attempt. */
  async heldRun(
    worker: WorkerEntity,
    { jid, attempt }: Pick<RunOrder, 'jid' | 'attempt'>,
  ): Promise<HeldJob | undefined> {
    const job = await this.repository.heldJob(jid);
    return job?.executor === executorOf(worker) && job.attempt === attempt ? job : undefined;
  }

  /** What somebody wants to see of the output of its runs. */
  async readsOf(worker: WorkerEntity): Promise<OutputRead[]> {
    return this.reads.questionsOf(executorOf(worker), MOST_READS);
  }

  /** The executor whose run a question for output is about; undefined for none. */
  async executorAsked(question: string): Promise<string | undefined> {
    return this.reads.executorOf(question);
  }

  /** How jobs are kept apart on the machine of the service, and why it takes none. */
  noteOwnMachine({ facts }: WorkerEntity, fault: string | null): void {
    this.metrics.localPause(fault !== null);
    this.metrics.isolation(facts.isolation ?? 'off');
  }

  /** What the worker runs is alive as it is. */
  async noteAlive(worker: WorkerEntity): Promise<void> {
    const olderThan = this.clock.now() - Math.max(30_000, this.config.jobLease * 1000);
    await this.repository.recordJobHeartbeats(executorOf(worker), new Date(olderThan));
  }

  /**
   * Compares what the worker says that it has with what the database says. A run that is given to it and that it does not name
   * comes again: its answer was lost. One that has begun and that it does not name is lost; one that nobody waits for is to be stopped.
   * Undefined when the worker has made another claim: what this one names is no news any more.
   */
  async compare(
    worker: WorkerEntity,
    { seq, holding, stopping = [] }: Pick<ClaimRequest, 'seq' | 'holding' | 'stopping'>,
  ): Promise<(Pick<ClaimAnswer, 'stop' | 'forget'> & { again: HeldJob[] }) | undefined> {
    const states = await this.claims.heldAt(worker, { executor: executorOf(worker), seq });
    if (!states) return undefined;
    const known = new Set(states.map(runKey));
    const named = new Set(holding);
    const ending = new Set(stopping);
    const unnamed = states.filter((state) => !named.has(runKey(state)));
    const missing = unnamed.filter(isBegun);
    const over = unnamed.filter((state) => !isUnderWay(state));
    const back = states.filter((state) => named.has(runKey(state)) && state.status === 'Stalled');
    const again = unnamed.filter(({ status }) => status === 'Matched').slice(0, MOST_AGAIN);
    const stop = states.filter((state) => named.has(runKey(state)) && !isUnderWay(state));
    const jobs = await this.heldOf(worker, [...missing, ...over, ...back, ...again].map(runKey));
    const settle = (of: readonly HeldState[], work: (job: HeldJob) => Promise<unknown>) =>
      pLimit(PREPARED_AT_ONCE).map(jobsOf(of, jobs), work);
    const service = this.serviceOf(worker);
    await settle(missing, (job) => service.missing(job, NOT_NAMED));
    await settle(over, (job) => service.released(job));
    await settle(back, (job) => service.resumed(job));
    return {
      again: jobsOf(again, jobs),
      stop: stop.map(runKey).filter((run) => !ending.has(run)),
      forget: holding.filter((run) => !known.has(run)),
    };
  }

  /** Another token for a run. Throws Problem 404 when its job asked for none, or its submitter has no right to it any more. */
  async token(worker: WorkerEntity, job: HeldJob): Promise<ClaimedToken> {
    const given = await this.serviceOf(worker)
      .token(job)
      .catch((error: unknown) => {
        if (error instanceof RunFault) return undefined;
        throw error;
      });
    if (!given) throw new Problem('job.not-found', 'There is no token for the run');
    return { token: given.token, expiresIn: given.expiresInSeconds };
  }

  /** What the worker has to know of runs that are given to it. Those that cannot run are refused and left out. */
  async claimed(worker: WorkerEntity, orders: readonly RunOrder[]): Promise<ClaimedRun[]> {
    const mine = await this.ofOneOwner(worker, orders);
    if (mine.length === 0) return [];
    const service = this.serviceOf(worker);
    const found = await pLimit(PREPARED_AT_ONCE).map(mine, async (order) => {
      try {
        return [await claimedRun(order, service, isOwn(worker))];
      } catch (error) {
        if (error instanceof RunFault) await service.refused(order, error);
        // Anything else passes: the next claim brings the run again.
        else this.logger.warn({ err: error, jid: String(order.jid) }, 'a run is not handed over');
        return [];
      }
    });
    return found.flat();
  }

  /**
   * Where jobs can touch each other or the worker, it takes those of one owner alone, from its first run to its end: others, which a
   * claim that ended meanwhile may have matched, go back.
   */
  private async ofOneOwner(
    worker: WorkerEntity,
    orders: readonly RunOrder[],
  ): Promise<readonly RunOrder[]> {
    const [first] = orders;
    if (!first || !isForOneOwner(worker)) return orders;
    const owner = await this.claims.noteOwner(worker, first.owner);
    const service = this.serviceOf(worker);
    for (const order of orders) if (order.owner !== owner) await service.returned(order, {});
    return orders.filter((order) => order.owner === owner);
  }
}

/** What the database knows of a run. */
export function knownRun(order: RunOrder): ClaimedRun {
  const { site, setup, owner, ownerGroup, cpuTime, manifest, inputSandbox } = order;
  return {
    ...{ run: runKey(order), site, setup, owner, ownerGroup, cpuTime, manifest },
    ...(inputSandbox !== null && { inputSandbox }),
  };
}

async function claimedRun(
  order: RunOrder,
  service: RunService,
  isOnOwnMachine: boolean,
): Promise<ClaimedRun> {
  const inputs = await service.inputs(order);
  const { text: inputData, fetched = [] } = inputs ?? {};
  const token = await service.token(order);
  const { path, hasNetwork, declared } = await service.siteOf(order);
  return {
    ...knownRun(order),
    ...(inputData !== undefined && { inputData }),
    ...(fetched.length > 0 && { fetched }),
    ...(token && { token: { token: token.token, expiresIn: token.expiresInSeconds } }),
    ...(path !== undefined && { path }),
    ...(hasNetwork && { hasNetwork }),
    ...(isOnOwnMachine && declared && { declared }),
  };
}

function jobsOf(states: readonly HeldState[], jobs: ReadonlyMap<RunKey, HeldJob>): HeldJob[] {
  return states.flatMap((state) => jobs.get(runKey(state)) ?? []);
}

/** True for a job that is wanted. */
export function isUnderWay(job: Pick<HeldJob, 'status'>): boolean {
  return job.status === 'Matched' || isBegun(job);
}

/** True for a job whose program may have been started, and whose end is waited for. */
function isBegun({ status }: Pick<HeldJob, 'status'>): boolean {
  return ['Running', 'Stalled', 'Completing', 'Completed'].includes(status);
}
