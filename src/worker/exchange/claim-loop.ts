import { setMaxListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { machineFaultOf, Problem, sleep } from '#src/kernel/index.js';
import type { Logger } from '#src/runtime/index.js';
import type {
  ClaimAnswer,
  ClaimRequest,
  OutputRead,
  OutputReadAnswer,
  RunKey,
} from '#src/jobs/index.js';
import { isAway, readOutput } from '#src/jobs/run/index.js';
import type { LocalProcessExecutor } from '../runs/local-process.executor.js';
import { Backoff } from './retry.js';
import type { RemoteRunService } from './remote-run-service.js';
import { keptOrder, orderOf } from './run-order.js';
import { runName } from '../runs/run-directory.js';
import { RefusedError, type WorkerLink } from './worker-link.js';

/** So long may the service take for an answer, seconds. */
const WAIT_SECONDS = 25;
/** And then it is lost: within a lease, which is three claims, two may be. */
const SILENCE_SECONDS = WAIT_SECONDS + 10;
const MOST_CLAIMED = 200;
const MOST_FAULT = 255;
const COMPARE_MS = 5_000;
/** An open claim keeps no worker that is to end. */
const END_LOOK_MS = 250;
/** A claim that waits is replaced by one with more room after so long: many runs may end within it. */
const MORE_MS = 200;
/** After an answer without anything that can be done now. */
const PAUSE_MS = 500;
/** So many claims that are behind another's are no chance: two programs that claim in turns have as many of them as good ones. */
const MOST_OUTDATED = 5;
/** Part of one that each good claim takes away. */
const FORGIVEN = 0.25;
const OUTDATED = 'worker.claim-outdated';
const RUN_NAME = /^\d+\.\d+$/;

/** What the loop of claims works with. */
export interface ClaimLoopParts {
  executor: LocalProcessExecutor;
  service: RemoteRunService;
  link: Pick<WorkerLink, 'json' | 'request' | 'nextClaim' | 'isOver'>;
  logger: Logger;
  /** Milliseconds without a run after which the worker ends; Infinity for never. */
  idleMs: number;
  signal: AbortSignal;
}

/** Another program claims with the key of this worker. */
export class OutdatedClaimsError extends Error {
  constructor() {
    super('Another program claims runs with the key of this worker: was its directory copied?');
    this.name = 'OutdatedClaimsError';
  }
}

/**
 * Keeps one claim of the worker open: it says what the worker has and would take, and its answer brings runs and commands. When there
 * is more room than the open claim has said, a newer one takes its place.
 */
export class ClaimLoop {
  private open: ClaimRequest | undefined;
  private wake: () => void = () => undefined;
  /** Runs that are not the worker's any more, until nothing of them is left. */
  private readonly forgotten = new Set<RunKey>();
  private later: NodeJS.Timeout | undefined;
  private hasCompared = false;
  private isDraining = false;
  /** The service has said that it ends. */
  private isServiceEnding = false;
  private outdated = 0;
  /** By a clock that nobody sets. */
  private lastRunMs = performance.now();
  private readonly backoff = new Backoff();
  private readonly over = new AbortController();
  /** Aborts when the worker is told to end, and when the loop has ended. */
  private readonly signal: AbortSignal;

  constructor(private readonly parts: ClaimLoopParts) {
    this.signal = AbortSignal.any([parts.signal, this.over.signal]);
    setMaxListeners(0, this.signal);
    parts.executor.onFree = () => this.onFree();
  }

  /**
   * Claims until the worker is drained, or has been idle for as long as it may be. Rejects with WorkerGoneError, OutdatedClaimsError, and
   * the reason of the signal.
   */
  async run(): Promise<'drained' | 'idle'> {
    let fail: (error: unknown) => void = () => undefined;
    const failed = new Promise<never>((_, reject) => (fail = reject));
    failed.catch(() => undefined);
    const ends = setInterval(() => this.endOf() !== undefined && this.wake(), END_LOOK_MS);
    try {
      // What the first claim does not name is over: nothing of it may live.
      const compared = new Promise<void>((done) => void this.compareAgain(done).catch(fail));
      await Promise.race([compared, failed]);
      return await this.claims(failed, fail);
    } finally {
      clearInterval(ends);
      this.over.abort(new Error('the loop of claims has ended'));
    }
  }

  private async claims(
    failed: Promise<never>,
    fail: (error: unknown) => void,
  ): Promise<'drained' | 'idle'> {
    for (;;) {
      this.signal.throwIfAborted();
      const woken = new Promise<void>((resolve) => (this.wake = resolve));
      const claimed = this.claim();
      claimed.catch(fail);
      await Promise.race([claimed, woken, failed]);
      const end = this.endOf();
      if (end !== undefined) return end;
    }
  }

  /** It drains: nothing more is taken. */
  drain(): void {
    this.isDraining = true;
    this.wake();
  }

  private endOf(): 'drained' | 'idle' | undefined {
    const { idleMs, link, executor } = this.parts;
    // What has ended is found by its directory at the next start.
    if (link.isOver() && [...executor.current].every(({ isOver }) => isOver)) return 'idle';
    if (this.mayHold()) {
      this.lastRunMs = performance.now();
      return undefined;
    }
    if (this.isDraining) return 'drained';
    return performance.now() - this.lastRunMs >= idleMs ? 'idle' : undefined;
  }

  private mayHold(): boolean {
    if ([...this.parts.executor.current].length > 0) return true;
    try {
      return this.holding().length > 0;
    } catch (error) {
      if (machineFaultOf(error) === undefined) throw error;
      return true;
    }
  }

  private onFree(): void {
    const { open } = this;
    if (!open) return;
    if (this.isDraining && [...this.parts.executor.current].length === 0) return this.wake();
    const { most, free } = this.wish();
    if (most === 0) return;
    if (open.most === 0) return this.wake();
    const isMore =
      most > open.most ||
      free.processors > open.free.processors ||
      free.ramMB > open.free.ramMB ||
      (free.gpus ?? 0) > (open.free.gpus ?? 0);
    if (isMore) this.later ??= setTimeout(() => this.wakeLate(), MORE_MS).unref();
  }

  private wakeLate(): void {
    this.later = undefined;
    this.wake();
  }

  private async claim(): Promise<void> {
    const { link } = this.parts;
    const { signal } = this;
    let request: ClaimRequest | undefined;
    try {
      const seq = await link.nextClaim();
      request = { seq, ...this.wish(), ...this.held(), wait: WAIT_SECONDS };
    } catch (error) {
      return this.onMachineFault(error);
    }
    this.open = request;
    const sentMs = performance.now();
    try {
      const options = { json: request, silenceSeconds: SILENCE_SECONDS, signal };
      const answer = await link.json<ClaimAnswer>('POST', '/claims', options);
      if (!isAnswer(answer)) throw Problem.unavailable('The answer is none of the service');
      this.backoff.reset();
      this.outdated = Math.max(0, this.outdated - FORGIVEN);
      // A newer claim does not name what this one brings: begun meanwhile it would be held for lost. Its own answer brings it again.
      if (this.open !== request || this.over.signal.aborted) return;
      this.isServiceEnding = answer.isEnding === true;
      if (this.isServiceEnding) this.parts.executor.requeueUnstarted();
      const isNews = this.take(answer);
      // First, so that the next claim is not answered with the same questions.
      await Promise.all((answer.reads ?? []).map((read) => this.answerRead(read)));
      const isEarly = performance.now() - sentMs < PAUSE_MS;
      if (!isNews && !answer.reads?.length && isEarly) await sleep(PAUSE_MS, { signal });
    } catch (error) {
      const isOver = this.over.signal.aborted;
      if (this.open === request && !isOver) await this.onFault(error);
    } finally {
      if (this.open === request) this.open = undefined;
    }
  }

  /** A disk that is full or broken, or no open files left: that passes, and a worker that ends would help nobody. */
  private async onMachineFault(error: unknown): Promise<void> {
    const { logger } = this.parts;
    const { signal } = this;
    const reason = machineFaultOf(error);
    if (reason === undefined) throw error;
    const pause = this.backoff.next(error);
    logger.error({ reason, seconds: Math.round(pause / 1000) }, 'no runs can be claimed');
    await sleep(pause, { signal });
  }

  private async onFault(error: unknown): Promise<void> {
    const { signal } = this;
    signal.throwIfAborted();
    if (error instanceof RefusedError && error.code === OUTDATED) {
      this.outdated += 1;
      if (this.outdated > MOST_OUTDATED) throw new OutdatedClaimsError();
      return;
    }
    if (!isAway(error)) return this.onMachineFault(error);
    const pause = this.backoff.next(error);
    const { logger, link } = this.parts;
    logger[link.isOver() ? 'debug' : 'warn'](
      { reason: error.detail, seconds: Math.round(pause / 1000) },
      'the service is away',
    );
    await sleep(pause, { signal });
  }

  private wish(): Pick<ClaimRequest, 'most' | 'free' | 'fault'> & { isDraining?: true } {
    const { executor } = this.parts;
    const { processors, ramMB, gpus, ahead } = executor.freeMachine();
    const mayTake = this.hasCompared && !this.isDraining && !this.isServiceEnding;
    return {
      most: mayTake ? Math.min(MOST_CLAIMED, executor.freeSlots()) : 0,
      free: {
        processors: Math.max(0, processors),
        ramMB: Math.max(0, ramMB),
        gpus: Math.max(0, gpus),
        ahead: Math.max(0, ahead + Math.min(0, processors)),
      },
      ...(executor.fault !== null && { fault: executor.fault.slice(0, MOST_FAULT) }),
      ...(this.isDraining && { isDraining: true }),
    };
  }

  private held(): { holding: RunKey[]; stopping: RunKey[] } {
    // Of one that is over nothing is to be ended any more: its output is on its way.
    const runs = [...this.parts.executor.current].filter((run) => run.isStopped || run.isOver);
    const stopping = runs
      .map(({ order }) => runName(order))
      .filter((run) => !this.forgotten.has(run));
    return { holding: this.holding(), stopping };
  }

  /** Runs that the worker has: those that it looks after, and those whose directories are there. */
  private holding(): RunKey[] {
    const { executor } = this.parts;
    const known = new Set([...executor.current].map(({ order }) => runName(order)));
    for (const run of this.onDisk()) {
      if (!known.has(run) && keptOrder(executor.root, run)) known.add(run);
    }
    return [...known].filter((run) => !this.forgotten.has(run));
  }

  /** What was started this very moment could not be seen by the first try. */
  private stopAgain(): void {
    const { executor } = this.parts;
    for (const run of executor.current) if (run.isStopped && !run.isOver) executor.cancel(run.key);
  }

  private onDisk(): RunKey[] {
    return readdirSync(this.parts.executor.root).filter((name) => RUN_NAME.test(name));
  }

  /** Somebody wants to see what a run writes. One that cannot be answered is asked again, or given up by who has asked. */
  private async answerRead({ id, run, ...wish }: OutputRead): Promise<void> {
    const { executor, link, logger } = this.parts;
    const { signal } = this;
    try {
      const found = [...executor.current].find(({ order }) => runName(order) === run);
      const places = found && executor.placesOf(found);
      const part = places && (await readOutput(places, wish));
      const json: OutputReadAnswer = {
        id,
        ...(part && {
          part: {
            ...part,
            modifiedMs: Math.floor(part.modifiedMs),
            content: part.content.toString('base64'),
          },
        }),
      };
      await link.request('POST', '/reads', { json, signal });
    } catch (error) {
      logger.debug({ err: error, run }, 'the output of a run cannot be shown');
    }
  }

  /** Does what an answer says; false when it says nothing that can be done. */
  private take({ runs, stop, forget, isDrained }: ClaimAnswer): boolean {
    const { executor, service } = this.parts;
    const known = new Map([...executor.current].map((run) => [runName(run.order), run]));
    for (const key of forget) {
      this.forgotten.add(key);
      const run = known.get(key);
      if (!run) continue;
      service.forget(run.order);
      executor.cancel(run.key);
    }
    const stopped = stop.filter((key) => known.has(key));
    for (const key of stopped) executor.cancel(known.get(key)?.key ?? '');
    // One that is on the disk alone may have been started: the next comparison tells.
    const isNew = (run: RunKey): boolean =>
      !known.has(run) && !this.forgotten.has(run) && !keptOrder(executor.root, run);
    const fresh = runs.filter(({ run }) => isNew(run));
    if (fresh.length > 0) executor.start(fresh.map(orderOf));
    const wasDraining = this.isDraining;
    this.isDraining ||= isDrained;
    const isDrainNews = this.isDraining && !wasDraining;
    return fresh.length + stopped.length + forget.length > 0 || isDrainNews;
  }

  /** Finds again what an earlier process of this worker, or a fault, has left; and removes what nobody knows. */
  private async compareAgain(onFirst: () => void): Promise<void> {
    const { executor, logger } = this.parts;
    const { signal } = this;
    for (;;) {
      let onDisk: RunKey[] | undefined;
      try {
        onDisk = this.onDisk();
        const wanted = onDisk.filter((run) => !this.forgotten.has(run));
        this.stopAgain();
        await executor.reconcile(wanted.flatMap((run) => keptOrder(executor.root, run) ?? []));
        if (!this.hasCompared) this.wake();
        this.hasCompared = true;
      } catch (error) {
        signal.throwIfAborted();
        logger.error({ err: error }, 'runs are not compared with what is on the disk');
      }
      this.pruneForgotten(onDisk);
      onFirst();
      await sleep(COMPARE_MS, { signal });
    }
  }

  /** Of those that have no directory any more nothing is left. */
  private pruneForgotten(onDisk: RunKey[] | undefined): void {
    if (!onDisk) return;
    const { executor } = this.parts;
    const left = new Set([...onDisk, ...[...executor.current].map(({ order }) => runName(order))]);
    for (const run of this.forgotten) if (!left.has(run)) this.forgotten.delete(run);
  }
}

function isAnswer({ runs, stop, forget }: Partial<ClaimAnswer>): boolean {
  return [runs, stop, forget].every((list) => Array.isArray(list));
}
