import { loopTurn, MachineFault, sleep } from '#src/kernel/index.js';
import type { RunningTask } from '#src/runtime/index.js';
import type { Site } from '#src/registry/index.js';
import {
  type Executor,
  type FreeMachine,
  type HeldJob,
  isAway,
  type OutputPlaces,
  type RunLife,
  type RunOrder,
  SITE_PATH,
} from '#src/jobs/run/index.js';
import { locateProgram } from './find-program.js';
import { bootId, runName, type LocalContext, type LocalProcessParts } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { MachineLoad, thisMachine } from './machine-load.js';
import { openExecutor, tasksOf, type OpenExecutor } from './open-executor.js';
import { ownProcessors } from './processors.js';
import type { RunCleaner } from './run-cleaner.js';
import { launchRun, prepareRun } from './run-launch.js';
import { RunPace } from './run-pace.js';
import { isUnderWay, untilEnd } from './run-recovery.js';
import { closeRunRoot } from './run-root.js';
import { namesOf } from './run-watchdog.js';
import { StarterExitedError } from '../start/starter.js';
import { isAlive } from '../watch/process-table.js';
import type { StartGate } from './start-gate.js';
import { Watcher } from '../watch/watcher.js';

const MAX_COLLECTING = 64;
const PREPARING_AT_ONCE = 3;
/** While the database or the sandbox store is away a run is prepared again so often, and then given back. */
const PREPARING_ATTEMPTS = 30;
const AWAY_MS = 1_000;
const FORGOTTEN_MS = 10_000;
/** A prepared run that finds no free place for so long is better off with another instance. */
const READY_TIMEOUT_MS = 5_000;

/**
 * Runs jobs as processes of this machine: each enclosed as the machine permits it, below a small supervisor in its own
 * session, with its own directory and limits, and under an account of its own when the service is root. Everything that matters is on disk before it
 * happens, so the executor can be killed at any moment: `reconcile` finds every run again, starts none twice and
 * loses none.
 */
export class LocalProcessExecutor implements Executor {
  readonly backend = 'local-process';
  /** Noted with every claim: what was started before a reboot does not run any more. */
  readonly reference = bootId();
  onFree: () => void = () => undefined;

  private readonly slots: number;
  private readonly pace: RunPace;
  private readonly machine: MachineLoad;
  private tasks: RunningTask[] = [];
  private readonly runs = new Map<string, LocalRun>();
  private readonly waiting: LocalRun[] = [];
  private readonly ready: LocalRun[] = [];
  private preparing = 0;
  private collecting = 0;
  private isClosed = false;
  private hasReconciled = false;
  private opened: OpenExecutor | undefined;
  private readonly watcher = new Watcher();

  constructor(private readonly parts: LocalProcessParts) {
    this.slots = parts.config.localSlots || ownProcessors().length;
    this.pace = new RunPace(this.slots);
    this.machine = new MachineLoad(parts.machine ?? thisMachine(), this.slots, ownProcessors());
  }

  get id(): string {
    return this.context.id;
  }

  /** The directory of runs. */
  get root(): string {
    return this.context.place.root.path;
  }

  get fault(): string | null {
    return this.opened?.gate.fault ?? null;
  }

  async open(): Promise<boolean> {
    this.opened = await openExecutor(this.parts, this.watcher, this.reference);
    this.opened?.gate.look();
    if (this.opened) {
      const tasks = tasksOf(this.opened, this.runs);
      this.tasks = tasks.map((task) => this.parts.scheduler.add(task));
    }
    return this.opened !== undefined;
  }

  /** The runs that it has, also those whose end is not reported yet. */
  get current(): Iterable<LocalRun> {
    return this.runs.values();
  }

  serves({ backend }: Site): boolean {
    return backend === this.backend;
  }

  freeSlots(): number {
    if (this.isClosed || this.fault !== null || this.collecting >= MAX_COLLECTING) return 0;
    return this.pace.wanted(
      this.machine.running + this.waiting.length + this.preparing + this.ready.length,
    );
  }

  freeMachine(sites: readonly Site[]): FreeMachine {
    return { ...this.machine.freeBeside(this.runs.values(), sites), ahead: this.pace.ahead };
  }

  load(site: string): number {
    let count = 0;
    for (const run of this.runs.values()) if (run.order.site === site && !run.isOver) count += 1;
    return count;
  }

  start(orders: readonly RunOrder[]): void {
    for (const order of orders) this.waiting.push(this.newRun(order));
    this.prepareNext();
  }

  cancel(jid: string): void {
    const run = this.runs.get(jid);
    if (run) this.inBackground(run, this.stop(run));
  }

  async hasProgram(name: string, site: Site): Promise<boolean | undefined> {
    if (!this.opened) return undefined;
    const { isolation } = this.context.place;
    const { path } = site.options;
    const places = { path: typeof path === 'string' ? path : SITE_PATH, isolation };
    return (await locateProgram(name, places)) !== undefined;
  }

  outputOf(job: HeldJob): Promise<OutputPlaces | undefined> {
    return Promise.resolve(this.whenOpen().place.outputOfHeld(job));
  }

  /** Where a run writes; undefined when nothing of it is there yet. */
  placesOf({ order }: LocalRun): OutputPlaces | undefined {
    return this.whenOpen().place.outputOfHeld(order);
  }

  async reconcile(held: readonly HeldJob[]): Promise<void> {
    const known = new Set(held.map(runName));
    for (const job of held) {
      const run = this.runs.get(String(job.jid));
      if (run?.order.attempt === job.attempt) await this.compare(run, job);
      else if (!run) await this.recover(job).catch((error: unknown) => this.gate.forgive(error));
    }
    for (const name of namesOf(this.runs.values())) known.add(name);
    await this.whenOpen().remains.remove(known);
    this.hasReconciled = true;
    this.requeueUnplaced();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.tasks.map((task) => task.stop()));
    const unstarted = [...this.waiting.splice(0), ...this.ready.splice(0)];
    await Promise.all(unstarted.map((run) => this.requeue(run).catch(() => undefined)));
    const deadline = Date.now() + 3_000;
    while (this.collecting + this.preparing > 0 && Date.now() < deadline) await sleep(20);
    await this.watcher.close();
    this.context.place.starter.close();
    closeRunRoot(this.context.place.root);
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
      await this.refuse(run, error);
      return;
    }
    if (!isPrepared || this.isClosed || run.isStopped) await this.requeue(run);
    else this.ready.push(run);
  }

  /** Waits while the database or the store is away; false when that takes too long for this instance. */
  private async prepareWhenPossible(run: LocalRun): Promise<boolean> {
    for (let attempt = 1; !this.isClosed && !run.isStopped; attempt += 1) {
      try {
        await loopTurn.room(); // directories and files are made synchronously, which may take milliseconds each
        this.cleaner.remove(run); // an earlier try of this very attempt, which was never started
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
    const startedAt = this.context.now();
    const permission = await this.life.begin(run, { startedAt, from: ['Matched'] });
    if (typeof permission === 'object') run.startUntilSeconds = permission.untilSeconds;
    await loopTurn.room(); // before the look: nothing comes between it and the order to start
    if (permission === false || run.isStopped) {
      // Whether the permission was written may be unknown: the database was lost before it could tell.
      run.directory.abandon();
      await this.requeue(run);
      return;
    }
    try {
      await launchRun(this.context, run);
    } catch (error) {
      if (!(error instanceof StarterExitedError)) {
        await this.refuse(run, error);
        return;
      }
      if (!(await this.isEndedWithout(run))) return;
    }
    if (await this.whenOpen().recovery.isNeverStarted(run)) {
      if (run.directory.start() === 'abandoned') return this.requeue(run); // its permission was over
      await this.refuse(run, new MachineFault('nothing can be written on its disk'));
      return;
    }
    this.pace.learn((this.parts.clock.now() - run.startedMs) / 1000);
    this.collect(run);
  }

  /** Waits for the end of a run whose starter is gone; false when it never started, or this process ends. */
  private async isEndedWithout(run: LocalRun): Promise<boolean> {
    if (!this.isClosed && run.directory.abandon()) {
      await this.requeue(run);
      return false;
    }
    run.isAttached = true;
    return untilEnd(run, () => this.isClosed);
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
      await this.life.finish(run, await this.whenOpen().place.endOf(run));
    } catch (error) {
      if (!(error instanceof MachineFault)) throw error;
      await this.refuse(run, error); // its program has not run
    }
  }

  /** Asked again while a stopped run goes on: what is started this very moment cannot be seen by the first try. */
  private async stop(run: LocalRun): Promise<void> {
    if (run.isOver) return;
    run.isStopped = true;
    for (const list of [this.waiting, this.ready]) {
      const index = list.indexOf(run);
      if (index < 0) continue;
      list.splice(index, 1);
      await this.life.release(run);
      this.forget(run);
      return;
    }
    await this.cleaner.endProcesses(run); // whoever waits for its end collects it
  }

  private async refuse(run: LocalRun, error: unknown): Promise<void> {
    this.gate.blame(error);
    await this.life.refuse(run, error);
    this.forget(run);
  }

  private async requeue(run: LocalRun): Promise<void> {
    await this.life.requeue(run);
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

  private async compare(run: LocalRun, job: HeldJob): Promise<void> {
    if (job.status === 'Stalled') {
      await this.life.resume(run);
      return;
    }
    if (!isUnderWay(job) && !run.isOver) this.inBackground(run, this.stop(run));
  }

  /** A job that the database says we hold, but that we know nothing of: our predecessor was killed. */
  private async recover(job: HeldJob): Promise<void> {
    // What a worker holds is what its directories have.
    if (this.parts.orderText && !this.context.directoryOf(job).exists()) return;
    if (job.status === 'Matched' && this.hasReconciled) {
      const age = this.parts.clock.now() - job.lastUpdate.getTime();
      if (age < FORGOTTEN_MS) return; // claimed this moment, not handed over yet
    }
    const run = this.newRun(job);
    try {
      if (await this.whenOpen().recovery.wasStarted(run, job)) await this.attach(run, job);
      else this.forget(run);
    } catch (error) {
      this.forget(run); // else nobody would follow it, and every later look would find it known
      throw error;
    }
  }

  private async attach(run: LocalRun, job: HeldJob): Promise<void> {
    run.isAttached = true;
    run.isStopped = !isUnderWay(job);
    if (run.directory.hasToken()) run.tokenDueMs = 0; // nobody knows how old it is
    if (job.status === 'Stalled') await this.life.resume(run);
    if (run.isStopped) await this.cleaner.endProcesses(run);
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
      this.gate.blame(error);
      this.parts.logger.error({ err: error, jid: run.key }, 'a step of a run failed');
      this.forget(run);
    });
  }

  private get context(): LocalContext {
    return this.whenOpen().context;
  }

  private get life(): RunLife<LocalRun> {
    return this.whenOpen().life;
  }

  private get gate(): StartGate {
    return this.whenOpen().gate;
  }

  private get cleaner(): RunCleaner {
    return this.whenOpen().cleaner;
  }

  private whenOpen(): OpenExecutor {
    if (!this.opened) throw new Error('the local-process executor is not open');
    return this.opened;
  }
}
