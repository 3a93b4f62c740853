import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { type Clock, CLOCK, Problem, randomId, runForAll, sleep } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { LOGGER, Scheduler, type Logger } from '#src/runtime/index.js';
import { Matcher } from '../../matching/matcher.js';
import type { Claimant, FreeMachine, RunOrder } from '../../run/executor.js';
import { OUTPUT_CHANNEL, STOP_CHANNEL, WORK_CHANNEL } from '../../state/admission.js';
import { backendOf, executorOf, isOwn, WORKERS_CHANNEL } from '../worker.js';
import type { WorkerEntity } from '../worker.entity.js';
import type { Site } from '#src/registry/index.js';
import type { ClaimAnswer, ClaimRequest, RunKey } from './protocol.js';
import { NO_OUTPUT } from './worker-outputs.js';
import { MOST_WAIT_SECONDS } from './worker-exchange.request.js';
import { WorkerRunsRepository, type BegunClaim } from './worker-runs.repository.js';
import { mostAfter } from '../worker-pauses.js';
import { isForOneOwner, runKey, WorkerRuns } from './worker-runs.js';

const POLL_MS = 5_000;
/** A claim is answered before the deadline of requests. */
const PART_OF_DEADLINE = 0.8;
/** Claims of the service's own worker in a lease. */
const BEATS = 4;
/** Kills that come together are one look. */
const GATHER_MS = 20;

const NOTHING = { runs: [], stop: [], forget: [] };

/** A claim that waits for its answer on this instance. */
interface OpenClaim {
  worker: WorkerEntity;
  executor: string;
  request: ClaimRequest;
  owner: string | null;
  /** The claim before it has waited for its whole time: nothing has changed at the worker. */
  isRenewal: boolean;
  /** Jids of the runs that the worker has and does not end yet. */
  jids: ReadonlySet<string>;
  isOver: boolean;
  end: (outcome?: Outcome) => void;
}

/** How a claim that waits ends. */
interface Outcome {
  /** Runs that are given to the worker. */
  orders?: RunOrder[];
  /** Runs that are not wanted any more. */
  stop?: RunKey[];
  /** It is compared once more first. */
  look?: boolean;
}

/**
 * Claims of workers: each is a sign of life, a request for work and the channel of commands in one. It is answered at once when
 * there is something to say, else when there is, or empty when its time is over. Claims of one site are matched together, one after the
 * other: of workers with the same free machine the first that gets nothing speaks for all.
 */
@Injectable()
export class WorkerClaims implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly instance = randomId();
  /** Worker → its open claim. */
  private readonly open = new Map<string, OpenClaim>();
  /** Queue → machine for which there was nothing when the queue was looked at last → the latest end of such a one. */
  private readonly vain = new Map<string, ReadonlyMap<string, number>>();
  private readonly matching = new Map<string, 'once' | 'again'>();
  private stopListening: (() => void)[] = [];
  private looking: Promise<void> | undefined;
  private isClosed = false;
  private isOwnEnding = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly feed: ChangeFeed,
    private readonly scheduler: Scheduler,
    private readonly matcher: Matcher,
    private readonly repository: WorkerRunsRepository,
    private readonly runs: WorkerRuns,
  ) {}

  onApplicationBootstrap(): void {
    this.stopListening = [
      this.feed.listen(WORK_CHANNEL, () => this.matchAll()),
      this.feed.listen(STOP_CHANNEL, (jid) => this.onStop(jid)),
      this.feed.listen(WORKERS_CHANNEL, (id) => this.onCommand(id)),
      this.feed.listen(OUTPUT_CHANNEL, (id) => void this.onQuestion(id)),
    ];
    // What a notification has missed.
    const poll = async (): Promise<void> => {
      this.matchAll();
      await this.look();
    };
    this.scheduler.add({ name: 'jobs.claims of workers', everyMs: POLL_MS, run: poll });
  }

  /** Ends all claims empty: their workers go on at another instance. */
  onModuleDestroy(): void {
    this.isClosed = true;
    for (const stop of this.stopListening.splice(0)) stop();
    for (const claim of [...this.open.values()]) claim.end();
  }

  /** How many wait for an answer. */
  get waiting(): number {
    return this.open.size;
  }

  /** The service's own worker is told that the service ends, and waits for no answer any more. */
  endOwn(): void {
    this.isOwnEnding = true;
    for (const claim of [...this.open.values()].filter(({ worker }) => isOwn(worker))) {
      claim.end({ look: true });
    }
  }

  /**
   * Answers a claim. Throws Problem 409 `worker.claim-outdated` when the worker has made a later one, so that a repeated or held back
   * request decides nothing.
   */
  async claim(
    worker: WorkerEntity,
    request: ClaimRequest,
    signal: AbortSignal,
  ): Promise<ClaimAnswer> {
    const { instance, clock } = this;
    const now = new Date(clock.now());
    const place = { instance, now, executor: executorOf(worker), backend: backendOf(worker) };
    const begun = await this.repository.beginClaim(worker, request, place);
    if (!begun) {
      const detail = 'The worker has made a later claim, or is gone';
      throw new Problem('worker.claim-outdated', detail);
    }
    this.open.get(worker.id)?.end();
    const { isDrained, owner, seenBefore } = begun;
    const isRenewal = now.getTime() - seenBefore.getTime() >= request.wait * 1000;
    if (this.mayWaitElsewhere(begun)) {
      await this.feed.notify(WORKERS_CHANNEL, `${worker.id} ${request.seq}`);
    }
    if (isOwn(worker)) this.runs.noteOwnMachine(worker, request.fault ?? null);
    if (request.holding.length > 0) await this.runs.noteAlive(worker);
    const compared = await this.compared(worker, request);
    const told = (answer: Omit<ClaimAnswer, 'isDrained'>): ClaimAnswer => {
      const isEnding = this.isOwnEnding && isOwn(worker);
      return { ...answer, isDrained, ...(isEnding && { isEnding }) };
    };
    const isTold = saysSomething(compared) || (isDrained && !request.isDraining);
    if (isTold || this.isClosed || this.isOwnEnding) return told(compared);
    const wanted = { ...request, most: isDrained ? 0 : mostAfter(request, begun, now) };
    const outcome = await this.wait(worker, { request: wanted, owner, isRenewal }, signal);
    const { orders = [], stop = [], look = false } = outcome;
    if (look) return told(await this.compared(worker, request));
    return { ...NOTHING, runs: await this.runs.claimed(worker, orders), stop, isDrained };
  }

  /** True where an earlier claim of the worker may still be open at another instance. */
  private mayWaitElsewhere({ instanceBefore, seenBefore }: BegunClaim): boolean {
    if (instanceBefore === null || instanceBefore === this.instance) return false;
    return this.clock.now() - seenBefore.getTime() < MOST_WAIT_SECONDS * 1000;
  }

  private async compared(
    worker: WorkerEntity,
    request: ClaimRequest,
  ): Promise<Omit<ClaimAnswer, 'isDrained'>> {
    const compared = await this.runs.compare(worker, request);
    if (!compared) return NOTHING;
    const { again, ...told } = compared;
    const reads = request.holding.length > 0 ? await this.runs.readsOf(worker) : [];
    return {
      runs: await this.runs.claimed(worker, again),
      ...told,
      ...(reads.length > 0 && { reads }),
    };
  }

  /** Waits for jobs, for a command, or until the time of the claim is over. */
  private async wait(
    worker: WorkerEntity,
    { request, owner, isRenewal }: Pick<OpenClaim, 'request' | 'owner' | 'isRenewal'>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      const claim: OpenClaim = {
        ...{ worker, request, owner, isRenewal, executor: executorOf(worker), isOver: false },
        jids: new Set(wantedOf(request).map((run) => run.split('.')[0] ?? '')),
        end: (outcome = {}) => {
          if (claim.isOver) return;
          claim.isOver = true;
          clearTimeout(timer);
          signal.removeEventListener('abort', gone);
          if (this.open.get(worker.id) === claim) this.open.delete(worker.id);
          resolve(outcome);
        },
      };
      const gone = (): void => claim.end();
      const { requestTimeout, jobLease } = this.config;
      // The service's own is a sign of life of the instance, too.
      const beat = isOwn(worker) ? jobLease / BEATS : Infinity;
      const seconds = Math.min(request.wait, beat, requestTimeout * PART_OF_DEADLINE);
      const timer = setTimeout(gone, seconds * 1000);
      signal.addEventListener('abort', gone);
      const other = this.open.get(worker.id);
      // Claims that come together may have got here in any order.
      if (signal.aborted || (other && other.request.seq > request.seq)) return gone();
      other?.end();
      this.open.set(worker.id, claim);
      if (request.most > 0 && !this.isVain(claim)) this.match(queueOf(worker));
      if (claim.jids.size > 0) void this.look(); // a kill may have come since the comparison
    });
  }

  private matchAll(): void {
    this.vain.clear();
    const queues = [...this.open.values()].map(({ worker }) => queueOf(worker));
    for (const queue of new Set(queues)) this.match(queue);
  }

  /** One round at a time for each queue, and one more when something came meanwhile. */
  private match(queue: string): void {
    if (this.matching.has(queue)) {
      this.matching.set(queue, 'again');
      return;
    }
    this.matching.set(queue, 'once');
    // A round is for all claims of the queue, whichever request has begun it.
    void runForAll(() => this.round(queue))
      .catch((error: unknown) =>
        this.logger.warn({ err: error, queue }, 'claims of workers are not matched'),
      )
      .finally(() => {
        const isAgain = this.matching.get(queue) === 'again';
        this.matching.delete(queue);
        if (isAgain && !this.isClosed) this.match(queue);
      });
  }

  private async round(queue: string): Promise<void> {
    const claims = [...this.open.values()].filter(
      ({ worker, request }) => queueOf(worker) === queue && request.most > 0,
    );
    const vain = new Map<string, number>();
    this.vain.set(queue, vain);
    for (const claim of shuffled(claims)) {
      if (claim.isOver || isIn(vain, claim)) continue;
      const orders = await this.claimFor(claim);
      if (orders.length === 0) vain.set(machineOf(claim), endOf(claim));
      else claim.end({ orders });
    }
  }

  /** An idle worker goes on waiting, and nothing has come since the last look. What makes no notification is found by the poll. */
  private isVain(claim: OpenClaim): boolean {
    if (!claim.isRenewal || !this.feed.live) return false;
    return isIn(this.vain.get(queueOf(claim.worker)), claim);
  }

  private async claimFor(claim: OpenClaim): Promise<RunOrder[]> {
    for (;;) {
      const { worker, request } = claim;
      const loads = isOwn(worker) ? await this.repository.loadsOf(claim.executor) : undefined;
      const claimant: Claimant = {
        ...claimantOf(claim),
        mayTake: (transaction) => this.repository.mayTake(transaction, worker, request.seq),
        load: (site) => loads?.get(site) ?? 0,
      };
      const { orders, hasMore } = await this.matcher.claim(claimant);
      if (orders.length > 0 || !hasMore || claim.isOver) return orders;
    }
  }

  private onStop(jid: string | undefined): void {
    // Without an id there are many, or some may have been missed.
    const isHere = !jid || [...this.open.values()].some(({ jids }) => jids.has(jid));
    if (isHere) void this.look();
  }

  /** Of a newer claim only older ones are ended: every instance hears of it, also the one that has it. */
  private onCommand(payload = ''): void {
    const [id = '', seq] = payload.split(' ');
    const claim = this.open.get(id);
    if (seq === undefined || Number(seq) > (claim?.request.seq ?? Infinity)) {
      claim?.end({ look: true });
    }
  }

  /** Ends the claim of the worker that has the run whose output somebody asks for; a worker without an open one asks by its next. */
  private async onQuestion(id: string | undefined): Promise<void> {
    const claims = [...this.open.values()].filter(({ jids }) => jids.size > 0);
    if (id === undefined || claims.length === 0) return;
    try {
      const executor = await this.runs.executorAsked(id);
      claims.find((claim) => claim.executor === executor)?.end({ look: true });
    } catch (error) {
      this.logger.warn({ err: error }, 'a worker is not asked for output');
    }
  }

  /** Answers the claims of workers that hold what is not wanted any more; many kills are one look. */
  private look(): Promise<void> {
    this.looking ??= runForAll(() => this.lookSoon());
    return this.looking;
  }

  private async lookSoon(): Promise<void> {
    await sleep(GATHER_MS);
    this.looking = undefined; // what comes from here on is another look
    const claims = [...this.open.values()].filter(({ jids }) => jids.size > 0);
    if (claims.length === 0) return;
    try {
      const executors = claims.map(({ executor }) => executor);
      const unwanted = new Map<string, RunKey[]>();
      for (const { executor, ...run } of await this.repository.unwanted(executors)) {
        unwanted.set(executor, [...(unwanted.get(executor) ?? []), runKey(run)]);
      }
      for (const claim of claims) {
        const wanted = new Set(wantedOf(claim.request));
        const stop = unwanted.get(claim.executor)?.filter((run) => wanted.has(run)) ?? [];
        if (stop.length > 0) claim.end({ stop });
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'workers are not told what to stop');
    }
  }
}

/** Claims of workers of one site are matched together; the service's own takes what its sites have by itself. */
function queueOf(worker: WorkerEntity): string {
  return isOwn(worker) ? executorOf(worker) : `worker site ${worker.site}`;
}

function claimantOf({
  worker,
  request,
  executor,
  owner,
}: OpenClaim): Omit<Claimant, 'load' | 'mayTake'> {
  const { most, free } = request;
  return {
    ...{ id: executor, backend: backendOf(worker), queue: queueOf(worker), reference: NO_OUTPUT },
    ...(isForOneOwner(worker) && { owner }),
    serves: ({ name, backend }) =>
      backend === backendOf(worker) && (isOwn(worker) || name === worker.site),
    freeSlots: () => most,
    freeMachine: (sites) =>
      isOwn(worker) ? ownMachine(worker, free, sites) : givenMachine(worker, free),
  };
}

/** What a worker says, up to what it has said of its machine. */
function givenMachine({ facts }: WorkerEntity, free: ClaimRequest['free']): FreeMachine {
  const { processors = Infinity, ramMB = Infinity, gpus = Infinity } = facts;
  return {
    processors: Math.min(free.processors, processors),
    ramMB: Math.min(free.ramMB, ramMB),
    gpus: Math.min(free.gpus ?? 0, gpus),
    ...{ ahead: free.ahead ?? 0, whole: facts },
  };
}

/** Of the service's own machine its sites may declare more than it seems to have, but for GPUs. */
function ownMachine(
  { facts }: WorkerEntity,
  free: ClaimRequest['free'],
  sites: readonly Site[],
): FreeMachine {
  const withDeclared = (name: 'processors' | 'ramMB'): number =>
    free[name] + Math.max(0, ...sites.map((site) => (site[name] ?? 0) - (facts[name] ?? 0)));
  return {
    ...{ processors: withDeclared('processors'), ramMB: withDeclared('ramMB') },
    ...{ ahead: free.ahead ?? 0, gpus: free.gpus ?? 0, mostGpus: facts.gpus ?? 0 },
  };
}

function saysSomething({ runs, stop, forget, reads }: Omit<ClaimAnswer, 'isDrained'>): boolean {
  return runs.length + stop.length + forget.length > 0 || reads !== undefined;
}

/** Claims for which the same jobs fit, but that what takes too long fits only those that end late. */
function machineOf({ worker, request, owner }: OpenClaim): string {
  const { tags, wallSeconds } = worker.facts;
  return JSON.stringify([request.free, owner, tags, wallSeconds]);
}

function endOf({ worker }: OpenClaim): number {
  const { endsAt } = worker.facts;
  return endsAt === undefined ? Infinity : Date.parse(endsAt);
}

/** For a machine that ends later there was nothing, too. */
function isIn(vain: ReadonlyMap<string, number> | undefined, claim: OpenClaim): boolean {
  return endOf(claim) <= (vain?.get(machineOf(claim)) ?? -Infinity);
}

function wantedOf({ holding, stopping = [] }: ClaimRequest): RunKey[] {
  const ending = new Set(stopping);
  return holding.filter((run) => !ending.has(run));
}

function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
