import { join } from 'node:path';
import { sleep } from '#src/kernel/index.js';
import { ConfigurationFault, type Config } from '#src/config/index.js';
import type { Site } from '#src/registry/index.js';
import type { Executor, FreeMachine, HeldJob, RunOrder } from '../../run/executor.js';
import type { OutputPlaces } from '../../run/output-places.js';
import { planOf, RunFault } from '../../run/run-plan.js';
import { openSlurmParts } from './open-slurm.js';
import type { StoredBatch } from './run-directory.js';
import { assemble, type SlurmAssembly } from './slurm-assembly.js';
import { SlurmError } from './slurm-error.js';
import type { SlurmLeadership } from './slurm-leadership.js';
import type { SlurmParts } from './slurm-parts.js';
import { runKey, SlurmRun } from './slurm-run.js';

const LOOK_MS = 400;
const TELL_MS = 2_000;
const UNHELD_GRACE_MS = 30_000;
const CLOSE_MS = 3_000;
const WANTED = ['Matched', 'Running', 'Stalled', 'Completing', 'Completed'];

/** Which sites an executor is for. */
export interface SlurmScope {
  id: string;
  serves: (site: Site) => boolean;
  /** Of the service, whatever holds for the sites. */
  settings: Config;
}

/**
 * Runs jobs on a Slurm cluster. One instance leads and looks after all batch runs; another takes over when it dies.
 *
 * A job is Matched until its payload has begun: Slurm may start it at any time after the submit, so what proves that
 * a Matched job has not been started is the claim in the shared directory (`RunDirectory.preventStart`), which is taken
 * before a job is given back. Truth about begin and end is what the wrapper leaves there; the controller is asked
 * only about runs that show no sign of life, and may be away for as long as it likes.
 */
export class SlurmExecutor implements Executor {
  readonly backend = 'slurm';
  onFree: () => void = () => undefined;

  private readonly runs = new Map<string, SlurmRun>();
  private opened: SlurmAssembly | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** The term of leading in which the runs of a predecessor were found. */
  private reconciledIn: number | undefined;
  private openFault: string | undefined;
  private isClosed = false;
  private toldAt = 0;

  constructor(
    private readonly given: SlurmParts,
    private readonly leadership: SlurmLeadership,
    private readonly scope: SlurmScope,
  ) {}

  /** That of the sites without a cluster of their own. */
  static ofSettings(parts: SlurmParts, leadership: SlurmLeadership): SlurmExecutor {
    return new SlurmExecutor(parts, leadership, {
      id: 'slurm',
      serves: ({ backend, connection }) => backend === 'slurm' && connection === undefined,
      settings: parts.config,
    });
  }

  /** All instances share the runs. */
  get id(): string {
    return this.scope.id;
  }

  get fault(): string | null | undefined {
    if (this.openFault !== undefined) return this.openFault;
    return this.isLeading ? this.opened?.health.fault : undefined;
  }

  /** There are runs to look after. */
  get isBusy(): boolean {
    return this.runs.size > 0;
  }

  serves(site: Site): boolean {
    return this.scope.serves(site);
  }

  async open(): Promise<boolean> {
    const { config, connection, logger } = this.given;
    if (config.slurmUrl === undefined && connection === undefined) return false;
    try {
      const parts = await openSlurmParts(this.given, this.id, this.scope.settings);
      this.opened = assemble(parts, {
        all: () => [...this.runs.values()],
        runsOf: (batch) => this.runsOf(batch),
        refuse: (run, fault) => this.refuse(run, fault),
        stopUnsubmitted: (run) => this.stopUnsubmitted(run),
        takeOut: (run) => this.takeOut(run),
        forget: (run) => this.forget(run),
        free: () => this.onFree(),
      });
    } catch (error) {
      // The settings of the service are wrong, it does not start; a site of the registry only is not used.
      if (error instanceof ConfigurationFault && connection === undefined) throw error;
      const why = error instanceof ConfigurationFault ? error.faults.join('; ') : textOf(error);
      if (why !== this.openFault) logger.error({ err: error }, 'a Slurm executor cannot be used');
      this.openFault = why;
      return false;
    }
    this.openFault = undefined;
    this.leadership.join();
    this.timer = setInterval(() => void this.tick(), LOOK_MS);
    this.timer.unref();
    return true;
  }

  freeSlots(): number {
    if (this.isClosed || !this.isLeading) return 0;
    // What a cluster that is away were given could run nowhere else.
    if (typeof this.opened?.health.fault === 'string') return 0;
    return Math.max(0, this.given.config.slurmSlots - this.runs.size);
  }

  freeMachine(): FreeMachine {
    return { processors: Infinity, ahead: 0, ramMB: Infinity };
  }

  load(site: string): number {
    let count = 0;
    for (const run of this.runs.values()) if (run.order.site === site) count += 1;
    return count;
  }

  start(orders: readonly RunOrder[]): void {
    const fresh = orders.filter(({ jid }) => !this.runs.has(String(jid)));
    this.parts.submitter.add(fresh.map((order) => this.newRun(order)));
  }

  cancel(jid: string): void {
    const run = this.runs.get(jid);
    if (run !== undefined && this.leadership.term !== undefined) this.stopSoon(run);
  }

  async outputOf(job: HeldJob): Promise<OutputPlaces | undefined> {
    const { directory } = this.parts.parts;
    // Of the account's own files only: the job may have put links to others on the way.
    const uid = (await directory.ownerOf(runKey(job)))?.uid;
    if (uid === undefined) return undefined;
    return { directory: join(directory.pathOf(runKey(job)), 'work'), files: new Map(), uid };
  }

  async reconcile(held: readonly HeldJob[]): Promise<void> {
    if (this.isClosed) return;
    const term = await this.leadership.claim();
    if (term === undefined) {
      this.runs.clear();
      return;
    }
    const isFirst = term !== this.reconciledIn;
    const batches = !isFirst ? undefined : await this.parts.parts.directory.batches();
    const batchOf = new Map(batches?.flatMap((batch) => batch.keys.map((key) => [key, batch])));
    for (const job of held) {
      const run = this.runs.get(String(job.jid));
      // Another instance may have led in between and begun a new attempt.
      const isSame = run?.order.attempt === job.attempt;
      if (run !== undefined && isSame) this.compare(run, job);
      else await this.adopt(job, batchOf.get(runKey(job)));
    }
    this.stopUnheldRuns(held);
    if (isFirst) await this.parts.trash.clean(batches ?? [], this.runs.values());
    this.reconciledIn = term;
    this.onFree();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    if (this.opened === undefined) return;
    const { submitter, life, watcher, accounting, parts } = this.opened;
    // Of a cluster that hangs: what is under way there is found again.
    const patience = setTimeout(() => void parts.api.abort(), CLOSE_MS);
    for (const run of await submitter.close()) {
      await life.requeue(run, 'The service was stopped').catch(() => undefined);
    }
    const deadline = Date.now() + CLOSE_MS;
    while (watcher.busy > 0 && Date.now() < deadline) await sleep(20);
    await accounting.close();
    this.leadership.leave();
    clearTimeout(patience);
    await parts.api.close();
  }

  // -- looking after runs ----------------------------------------------------------------------------------------

  private get isLeading(): boolean {
    return this.reconciledIn !== undefined && this.reconciledIn === this.leadership.term;
  }

  private async tick(): Promise<void> {
    if (!this.isLeading || this.isClosed) return;
    const { watcher, submitter, canceller, accounting, parts, health } = this.parts;
    health.look();
    if (this.runs.size > 0) await watcher.look();
    await this.parts.trash.empty(this.runs.values());
    const now = parts.clock.now();
    if (now - this.toldAt < TELL_MS) return;
    this.toldAt = now;
    accounting.look();
    try {
      await submitter.settle();
      await canceller.flush();
      await canceller.tidy([...this.runs.values()]);
    } catch (error) {
      const isAway = error instanceof SlurmError;
      if (isAway) parts.logger.warn({ err: error }, 'Slurm is away; batch jobs wait');
      else parts.logger.error({ err: error }, 'batch jobs cannot be looked after');
    }
  }

  // -- what the database says ------------------------------------------------------------------------------------

  /** A job that we hold but know nothing of: claimed a moment ago, or left by a predecessor. */
  private async adopt(job: HeldJob, batch: StoredBatch | undefined): Promise<void> {
    const { directory } = this.parts.parts;
    const isWanted = WANTED.includes(job.status);
    const run = this.newRun(job);
    run.batch = batch;
    if (!(await this.assignAccount(run))) return;
    run.hasBegun = !['Matched', 'Stalled'].includes(job.status);
    if (!(await directory.exists(run.key))) {
      if (!isWanted) await this.stopUnsubmitted(run);
      else if (job.status === 'Matched') this.parts.submitter.add([run]);
      else await this.failUnknown(run);
      return;
    }
    if (!isWanted && batch === undefined) {
      // Staged, but never handed to Slurm.
      if (await directory.preventStart(run.key)) await this.stopUnsubmitted(run);
      return;
    }
    if (!isWanted) {
      this.stopSoon(run);
      return;
    }
    if (batch === undefined) {
      if (job.status === 'Matched') this.parts.submitter.add([run]);
      else await this.failUnknown(run);
    } else if (batch.arrayId === undefined) this.parts.submitter.adopt(batch);
  }

  /** The account to which its files were given, whatever the settings say now; false: it has gone, and so has the run. */
  private async assignAccount(run: SlurmRun): Promise<boolean> {
    const { directory, accounts, config } = this.parts.parts;
    const owner = await directory.ownerOf(run.key);
    if (owner === undefined) return true;
    const { batch } = run;
    if (batch !== undefined) {
      // Older releases had one account.
      batch.account ??= { name: config.slurmUser, ...owner };
      run.account = batch.account;
      return true;
    }
    try {
      run.account = await accounts.ofStaged(owner);
      return true;
    } catch (error) {
      if (!(error instanceof RunFault)) throw error;
      await this.refuse(run, error);
      return false;
    }
  }

  private compare(run: SlurmRun, job: HeldJob): void {
    if (run.isFinishing) return;
    if (job.status === 'Stalled') run.hasBegun = false;
    if (!WANTED.includes(job.status) && !run.isStopped) this.stopSoon(run);
  }

  /** Runs that the database does not say we hold: nobody will ask for them any more. */
  private stopUnheldRuns(held: readonly HeldJob[]): void {
    const known = new Set(held.map((job) => runKey(job)));
    const now = this.given.clock.now();
    for (const run of this.runs.values()) {
      const isOld = now - run.madeMs > UNHELD_GRACE_MS;
      if (isOld && !known.has(run.key) && !run.isFinishing && !run.isStopped) this.stopSoon(run);
    }
  }

  // -- ending runs -----------------------------------------------------------------------------------------------

  private stopSoon(run: SlurmRun): void {
    if (run.isStopped) return;
    run.isStopped = true;
    void this.stop(run).catch((error: unknown) => {
      run.isStopped = false; // reconcile finds it again
      this.given.logger.error({ err: error, jid: String(run.order.jid) }, 'a run is not stopped');
    });
  }

  private async stop(run: SlurmRun): Promise<void> {
    const { submitter, parts } = this.parts;
    if (submitter.withdraw(run)) return this.stopUnsubmitted(run);
    // Being staged at this moment: the submitter hands it back.
    if (run.batch === undefined) return;
    await parts.directory.cancel(run.key);
    const isStartPrevented = await parts.directory.preventStart(run.key);
    await this.takeOut(run);
    if (isStartPrevented && !run.isFinishing) await this.stopUnsubmitted(run);
  }

  private async takeOut(run: SlurmRun): Promise<void> {
    if (run.batch === undefined || run.index === undefined) return;
    this.parts.canceller.add(run.batch, run.index);
    await this.parts.canceller.flush();
  }

  /** Its payload will never start, and nobody waits for it. */
  private async stopUnsubmitted(run: SlurmRun): Promise<void> {
    await this.parts.life.release(run);
    await this.forget(run);
  }

  private async refuse(run: SlurmRun, fault: RunFault): Promise<void> {
    const { parts, life } = this.parts;
    // A submit of which nobody knew had arrived after all.
    if (run.batch !== undefined && !(await parts.directory.preventStart(run.key))) return;
    try {
      await life.refuse(run, fault);
      await this.forget(run);
    } catch (error) {
      parts.logger.error({ err: error, jid: String(run.order.jid) }, 'a run is not refused');
      this.runs.delete(String(run.order.jid)); // reconcile takes it up again
    }
  }

  /** The shared directory has lost a run that has begun: nobody can say what became of it. */
  private async failUnknown(run: SlurmRun): Promise<void> {
    await this.parts.life.failUnknown(run, 'Nothing is left of the run in the shared directory');
    await this.forget(run);
  }

  private forget(run: SlurmRun): Promise<void> {
    const jid = String(run.order.jid);
    if (this.runs.get(jid) === run) this.runs.delete(jid);
    this.parts.trash.add(run);
    this.onFree();
    return Promise.resolve();
  }

  // -- small parts -----------------------------------------------------------------------------------------------

  private newRun(order: RunOrder): SlurmRun {
    const run = new SlurmRun(order, planOf(order), this.given.clock.now());
    this.runs.set(String(order.jid), run);
    return run;
  }

  private runsOf(batch: StoredBatch): SlurmRun[] {
    return [...this.runs.values()].filter((run) => run.batch === batch && !run.isStopped);
  }

  private get parts(): SlurmAssembly {
    if (this.opened === undefined) throw new Error('the Slurm executor is not open');
    return this.opened;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
