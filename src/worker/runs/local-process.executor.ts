import { loopTurn, MachineFault, sleep } from '#src/kernel/index.js';
import {
  gpusOf,
  isAway,
  type OutputPlaces,
  type RunOrder,
  type Stored,
} from '#src/jobs/run/index.js';
import { LocalContext, type LocalProcessParts } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { MachineLoad, type Share } from './machine-load.js';
import { closeInherited, logIsolation, openPlace } from './open-place.js';
import { ownProcessors } from './processors.js';
import { runName, notedGpus } from './run-directory.js';
import { InputsAwayError } from './fetch-inputs.js';
import { completeRun, launchRun, prepareRun } from './run-launch.js';
import { RunPace } from './run-pace.js';
import { endOf } from './run-end.js';
import { isNeverStarted, untilEnd, wasStarted } from './run-recovery.js';
import { closeRunRoot } from './run-root.js';
import { roundsOf } from './run-rounds.js';
import { isAlive } from '../watch/process-table.js';
import type { IsolationLevel } from '../isolation/isolation.js';

const MAX_COLLECTING = 64;
/** Runs whose program has ended and whose files wait for storage elements. */
const MAX_STORING = 500;
const PREPARING_AT_ONCE = 3;
/** While the database or the sandbox store is away a run is prepared again so often, and then given back. */
const PREPARING_ATTEMPTS = 30;
const AWAY_MS = 1_000;
/** A prepared run that finds no free place for so long is better off with another worker. */
const READY_TIMEOUT_MS = 5_000;

/** A run whose directory an earlier process has left. */
export type KeptRun = RunOrder & {
  /** The boot of the machine in which it was claimed: what was started in another one does not run any more. */
  boot: string;
};

/**
 * Runs jobs as processes of this machine: each enclosed as the machine permits it, below a small supervisor in its own
 * session, with its own directory and limits, and under an account of its own when the service is root. Everything that matters is on disk before it
 * happens, so the executor can be killed at any moment: `reconcile` finds every run again, starts none twice and
 * loses none.
 */
export class LocalProcessExecutor {
  /** Called when places have become free. */
  onFree: () => void = () => undefined;

  private readonly slots: number;
  private readonly pace: RunPace;
  private readonly machine: MachineLoad;
  private stopRounds: () => Promise<void> = () => Promise.resolve();
  private readonly runs = new Map<string, LocalRun>();
  private readonly waiting: LocalRun[] = [];
  private readonly ready: LocalRun[] = [];
  private preparing = 0;
  private collecting = 0;
  private storing = 0;
  private fetching = 0;
  private isClosed = false;
  /** Set by `open`, before which nothing else is called. */
  private context!: LocalContext;

  constructor(private readonly parts: LocalProcessParts) {
    this.slots = parts.config.localSlots || ownProcessors().length;
    this.pace = new RunPace(this.slots);
    const noted = (): string[] => notedGpus(this.root);
    this.machine = new MachineLoad(parts.machine, this.slots, ownProcessors(), noted);
  }

  /** The directory of runs. */
  get root(): string {
    return this.context.place.root.path;
  }

  get fault(): string | null {
    return this.context.gate.fault;
  }

  /** Each of its runs has a control group for its memory. */
  get hasMemoryGroups(): boolean {
    return this.context.place.groups !== undefined;
  }

  /** Makes its machine ready, and answers how jobs are kept apart there. Throws Error when none can run. */
  async open(): Promise<IsolationLevel> {
    const { report, ...place } = await openPlace(this.parts.config);
    closeInherited();
    logIsolation(this.parts.logger, report);
    this.context = new LocalContext(this.parts, place);
    this.context.gate.look();
    this.stopRounds = roundsOf(this.context, this.runs);
    return place.isolation.level;
  }

  /** The runs that it has, also those whose end is not reported yet. */
  get current(): Iterable<LocalRun> {
    return this.runs.values();
  }

  freeSlots(): number {
    const isFull = this.collecting >= MAX_COLLECTING || this.storing >= MAX_STORING;
    if (this.isClosed || this.fault !== null || isFull) return 0;
    return this.pace.wanted(
      this.machine.running + this.waiting.length + this.preparing + this.ready.length,
    );
  }

  /** What its runs leave free; `ahead`: jobs of one processor that it would prepare beyond that. */
  freeMachine(): Share & { ahead: number } {
    return { ...this.machine.freeBeside(this.runs.values()), ahead: this.pace.ahead };
  }

  start(orders: readonly RunOrder[]): void {
    for (const order of orders) this.waiting.push(this.newRun(order));
    this.prepareNext();
  }

  cancel(jid: string): void {
    const run = this.runs.get(jid);
    if (run) this.inBackground(run, this.stop(run));
  }

  /**
   * Finds again what an earlier process has left, by the orders in the directories of runs, and removes what nobody knows. Called at the
   * start and every few seconds.
   */
  async reconcile(kept: readonly KeptRun[]): Promise<void> {
    const known = new Set(kept.map(runName));
    for (const run of kept) {
      if (this.runs.has(String(run.jid))) continue;
      await this.recover(run).catch((error: unknown) => this.context.gate.forgive(error));
    }
    for (const { order } of this.runs.values()) known.add(runName(order));
    await this.context.cleaner.removeUnknown(known);
    this.requeueUnplaced();
  }

  /** Where a run writes; undefined when nothing of it is there yet. */
  placesOf({ directory, plan }: LocalRun): OutputPlaces | undefined {
    if (!directory.exists()) return undefined;
    const files = directory.outputs(plan);
    return { directory: directory.work, files, uid: directory.account() };
  }

  /** What was not begun goes back. */
  requeueUnstarted(): void {
    for (const run of this.takeUnstarted()) this.inBackground(run, this.requeue(run));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.stopRounds();
    await Promise.allSettled(this.takeUnstarted().map((run) => this.requeue(run)));
    for (const run of this.runs.values()) run.transfers.abort();
    const deadline = Date.now() + 3_000;
    while (this.collecting + this.preparing + this.fetching > 0 && Date.now() < deadline)
      await sleep(20);
    await this.context.watcher.close();
    closeRunRoot(this.context.place.root);
    this.context.place.groups?.close();
  }

  // -- the way of one run ---------------------------------------------------------------------------------------

  private prepareNext(): void {
    while (this.preparing < PREPARING_AT_ONCE && this.waiting.length > 0 && !this.isClosed) {
      const run = this.waiting.shift() as LocalRun;
      this.preparing += 1;
      const prepared = this.prepare(run).finally(() => {
        this.preparing -= 1;
        this.prepareNext();
        this.startNext();
      });
      this.inBackground(run, prepared);
    }
  }

  private async prepare(run: LocalRun): Promise<void> {
    let isPrepared: boolean;
    try {
      isPrepared = await this.prepareWhenPossible(run);
    } catch (error) {
      return this.refuse(run, error);
    }
    if (!isPrepared || this.isClosed || run.isStopped) await this.requeue(run);
    else this.ready.push(run);
  }

  /** Waits while the database or the store is away; false when that takes too long for this instance. */
  private async prepareWhenPossible(run: LocalRun): Promise<boolean> {
    for (let attempt = 1; !this.isClosed && !run.isStopped; attempt += 1) {
      try {
        await this.context.cleaner.remove(run); // an earlier try of this very attempt, which was never started
        await prepareRun(this.context, run);
        return true;
      } catch (error) {
        if (!isAway(error)) throw error;
        if (attempt >= PREPARING_ATTEMPTS) return false;
        await sleep(AWAY_MS, { unref: true });
      }
    }
    return false;
  }

  private startNext(): void {
    for (let run = this.nextReady(); run; run = this.nextReady()) {
      this.ready.shift();
      this.machine.enter(run);
      const launched = this.launch(run).finally(() => this.leave(run));
      this.inBackground(run, launched);
    }
    if (this.freeSlots() > 0) this.onFree();
  }

  /** The first of those that are ready, when there is room for it: none is passed by here. */
  private nextReady(): LocalRun | undefined {
    const [run] = this.ready;
    return run && !this.isClosed && this.machine.hasPlaceFor(run) ? run : undefined;
  }

  private leave(run: LocalRun): void {
    this.machine.leave(run);
    this.startNext();
  }

  /** Resolves when the payload has ended and its place is free. */
  private async launch(run: LocalRun): Promise<void> {
    if (run.inputs.fetched.length > 0 && !(await this.fetch(run))) return;
    const startedAt = this.context.now();
    const permission = await this.context.life.begin(run, { startedAt, from: ['Matched'] });
    if (typeof permission === 'object') run.startUntilSeconds = permission.untilSeconds;
    await loopTurn.room(); // before the look: nothing comes between it and the order to start
    if (permission === false || run.isStopped) {
      // Whether the permission was written may be unknown: the database was lost before it could tell.
      run.directory.abandon();
      return this.requeue(run);
    }
    try {
      await launchRun(this.context, run);
    } catch (error) {
      return this.refuse(run, error);
    }
    if (await isNeverStarted(this.context, run)) {
      if (run.directory.start() === 'abandoned') return this.requeue(run); // its permission was over
      return this.refuse(run, new MachineFault('nothing can be written on its disk'));
    }
    this.pace.learn(run.wallSeconds ?? 0);
    this.collect(run);
  }

  /** Brings files of the catalogue to a run in its place. False when it does not start: it goes back, or has failed. */
  private async fetch(run: LocalRun): Promise<boolean> {
    this.fetching += 1;
    try {
      const { work: directory } = this.context.place.isolation.placesOf(run.directory.path);
      const { signal } = run.transfers;
      const text = await this.context.fetcher.fetch(run, { directory, signal });
      await completeRun(this.context, run, text);
      return true;
    } catch (error) {
      if (run.transfers.signal.aborted) await this.requeue(run);
      else if (error instanceof InputsAwayError) await this.requeue(run, error.message);
      else await this.refuse(run, error);
      return false;
    } finally {
      this.fetching -= 1;
    }
  }

  /** Brings the output home beside the next run; its place is free already. */
  private collect(run: LocalRun): void {
    if (run.isOver) return;
    run.isOver = true;
    this.collecting += 1;
    const finished = this.finish(run)
      .then(() => this.forget(run))
      .finally(() => {
        this.collecting -= 1;
        this.onFree(); // where jobs are counted, its part is free only now
      });
    this.inBackground(run, finished);
  }

  private async finish(run: LocalRun): Promise<void> {
    try {
      const end = await endOf(this.context, run);
      if (gpusOf(run.order) > 0 && this.context.cleaner.isEnded(run)) {
        run.directory.dropGpus();
        this.startNext();
      }
      await this.context.life.finish(run, end, () => this.store(run));
    } catch (error) {
      if (run.transfers.signal.aborted) {
        // A run of a worker that ends is stored after its next start.
        if (!this.isClosed) await this.context.life.release(run);
        return;
      }
      if (!(error instanceof MachineFault)) throw error;
      await this.refuse(run, error); // its program has not run
    }
  }

  /** Who waits for storage elements keeps no other run from being collected. */
  private async store(run: LocalRun): Promise<Stored> {
    this.collecting -= 1;
    this.storing += 1;
    this.onFree();
    try {
      return await this.context.store(run);
    } finally {
      this.storing -= 1;
      this.collecting += 1;
    }
  }

  /** Asked again while a stopped run goes on: what is started this very moment cannot be seen by the first try. */
  private async stop(run: LocalRun): Promise<void> {
    run.transfers.abort();
    if (run.isOver) return;
    run.isStopped = true;
    const list = [this.waiting, this.ready].find((one) => one.includes(run));
    if (list) {
      list.splice(list.indexOf(run), 1);
      await this.context.life.release(run);
      this.forget(run);
      return;
    }
    await this.context.cleaner.endProcesses(run); // whoever waits for its end collects it
  }

  private async refuse(run: LocalRun, error: unknown): Promise<void> {
    this.context.gate.blame(error);
    await this.context.life.refuse(run, error);
    this.forget(run);
  }

  private async requeue(run: LocalRun, reason?: string): Promise<void> {
    await this.context.life.requeue(run, reason);
    this.forget(run);
  }

  /** Long runs in all places: what was prepared for short ones goes back to the queue. */
  private requeueUnplaced(): void {
    const now = this.parts.clock.now();
    if (this.nextReady()) return;
    const old = this.ready.filter((run) => now - run.takenMs > READY_TIMEOUT_MS);
    if (old.length === 0) return;
    this.pace.slowDownTo(READY_TIMEOUT_MS / 1000);
    for (const run of old) {
      this.ready.splice(this.ready.indexOf(run), 1);
      this.inBackground(run, this.requeue(run));
    }
  }

  // -- after restarts -------------------------------------------------------------------------------------------

  /** A run of whose directory nothing is known here: an earlier process was ended. */
  private async recover(kept: KeptRun): Promise<void> {
    const run = this.newRun(kept);
    try {
      run.inputs = (await this.parts.service.inputs(run.order)) ?? run.inputs;
      if (await wasStarted(this.context, run, kept.boot)) this.attach(run);
      else this.forget(run);
    } catch (error) {
      this.forget(run); // else nobody would follow it, and every later look would find it known
      throw error;
    }
  }

  private attach(run: LocalRun): void {
    run.isAttached = true;
    if (run.directory.hasToken()) run.tokenDueMs = 0; // nobody knows how old it is
    const leader = run.leader();
    this.machine.enter(run, leader && isAlive(leader) ? leader.pid : undefined);
    const followed = untilEnd(run, () => this.isClosed)
      .then((isEnded) => {
        if (isEnded) this.collect(run);
      })
      .finally(() => this.leave(run));
    this.inBackground(run, followed);
  }

  // -- small parts ----------------------------------------------------------------------------------------------

  private takeUnstarted(): LocalRun[] {
    return [...this.waiting.splice(0), ...this.ready.splice(0)];
  }

  private newRun(order: RunOrder): LocalRun {
    const run = this.context.newRun(order);
    run.takenMs = this.parts.clock.now();
    this.runs.set(run.key, run);
    return run;
  }

  private forget(run: LocalRun): void {
    if (this.runs.get(run.key) === run) this.runs.delete(run.key);
  }

  /** A fault (the database is away for good, a disk is full) forgets the run: `reconcile` takes it up again. */
  private inBackground(run: LocalRun, work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.context.gate.blame(error);
      this.parts.logger.error({ err: error, jid: run.key }, 'a step of a run failed');
      this.forget(run);
    });
  }
}
