import type { BatchWait } from '../../state/batch-wait.js';
import { MINOR } from '../../state/job-state.js';
import type { RunLife } from '../../run/run-life.js';
import type { Verdict } from '../../run/run-verdict.js';
import { mayTryAgain, verdictOfState, viewOf, type ControllerView } from './controller-view.js';
import { RunFault } from '../../run/run-plan.js';
import { waitOf } from './pending-reason.js';
import type { ExitRecord } from './run-record.js';
import type { SlurmAccounting } from './slurm-accounting.js';
import type { SlurmJob } from './slurm-api.js';
import { SlurmError } from './slurm-error.js';
import type { StoredBatch } from './run-directory.js';
import { apiOf, byAnswers, forEachOf, MAX_FAILED, type OpenSlurmParts } from './slurm-parts.js';
import { usageOf, verdictOfRecord, type SlurmPlace } from './slurm-place.js';
import type { SlurmRun } from './slurm-run.js';

const HEARTBEAT_MS = 10_000;
/** Four heartbeats missed; a run that has not begun only waits in Slurm's queue. */
const SILENT_MS = 45_000;
const NOT_BEGUN_MS = 20_000;
const ASK_MS = 10_000;
/** What Slurm says of a run that waits is written again after that time although it is the same: it is that old at most. */
const WAIT_MS = 60_000;
/** Time for the record of a run that Slurm says is over to become visible (network file systems). */
const SETTLE_MS = 15_000;
/** A run that the controller forgot, that has begun and shows no sign of life. */
const UNSEEN_MS = 600_000;
/** Exit codes of a payload that a signal has ended which was not ours. */
const KILLED = 137;
const TERMINATED = 143;
/** States of Slurm that explain such an end. */
const OF_KILL: ReadonlySet<string> = new Set(['OUT_OF_MEMORY']);
const OF_TERM: ReadonlySet<string> = new Set(['CANCELLED', 'PREEMPTED', 'TIMEOUT', 'DEADLINE']);
const FINISHING_AT_ONCE = 16;
/** Above that many arrays of an account the whole table is asked for once. */
const SINGLE_CALLS = 50;
const ASKING_AT_ONCE = 8;

/** What the watcher needs of the executor. */
export interface WatchedRuns {
  all(): Iterable<SlurmRun>;
  /** Nothing is left to look after. */
  forget(run: SlurmRun): Promise<void>;
  /** Takes the task out of Slurm. */
  takeOut(run: SlurmRun): Promise<void>;
}

/**
 * Looks at all runs at once. Two directories say which have begun and ended; the controller is asked only about
 * runs that show no sign of life, so a controller that is away delays nothing but what only it can know.
 */
export class SlurmWatcher {
  private looking: Promise<void> | undefined;
  private heartbeatAt = 0;
  private askedAt = 0;
  private finishing = 0;

  constructor(
    private readonly parts: OpenSlurmParts,
    private readonly runs: WatchedRuns,
    private readonly ways: {
      life: RunLife<SlurmRun>;
      place: SlurmPlace;
      accounting: SlurmAccounting;
    },
  ) {}

  /** One look; a look that is under way is not repeated. */
  async look(): Promise<void> {
    this.looking ??= this.lookOnce()
      .catch((error: unknown) => this.parts.logger.error({ err: error }, 'cannot look at the runs'))
      .finally(() => (this.looking = undefined));
    await this.looking;
  }

  /** Runs whose output is being brought home. */
  get busy(): number {
    return this.finishing;
  }

  private async lookOnce(): Promise<void> {
    const { marks } = this.parts.directory;
    const owned = [...this.runs.all()].flatMap(({ key, account, batch }) =>
      account === undefined || batch === undefined ? [] : [{ key, uid: account.uid }],
    );
    const [begun, ended] = await Promise.all([marks.begun(owned), marks.ended(owned)]);
    const started: SlurmRun[] = [];
    const quiet: SlurmRun[] = [];
    for (const run of this.runs.all()) {
      if (run.batch === undefined || run.isFinishing || this.now() < run.retryMs) continue;
      if (ended.has(run.key)) this.finishSoon(run, () => this.conclude(run));
      else if (begun.has(run.key) && !run.hasBegun && !run.isStopped) started.push(run);
      else quiet.push(run);
    }
    await Promise.all([this.begin(started), this.lookAtQuiet(quiet)]);
  }

  private async begin(runs: readonly SlurmRun[]): Promise<void> {
    await forEachOf(runs, FINISHING_AT_ONCE * 4, async (run) => {
      const record = await this.parts.directory.startRecord(run.key);
      if (record === undefined) return;
      run.seenMs = this.now();
      await this.noteBegin(run, record.begunAt).catch((error: unknown) => {
        run.hasBegun = false;
        this.parts.logger.error({ err: error }, 'the begin of a run cannot be noted');
      });
    });
  }

  private finishSoon(run: SlurmRun, work: () => Promise<void>): void {
    if (this.finishing >= FINISHING_AT_ONCE) return;
    this.finishing += 1;
    run.isFinishing = true;
    void work()
      .catch((error: unknown) => {
        this.parts.logger.error(
          { err: error, jid: String(run.order.jid) },
          'a run is not finished',
        );
        this.lookLater(run);
      })
      .finally(() => (this.finishing -= 1));
  }

  private lookLater(run: SlurmRun, milliseconds = 2_000): void {
    run.isFinishing = false;
    run.retryMs = this.now() + milliseconds;
  }

  /** The run says that it has ended. */
  private async conclude(run: SlurmRun): Promise<void> {
    const record = await this.parts.directory.exitRecord(run.key);
    if (record === undefined) return this.concludeUnreadable(run);
    if (run.isStopped) {
      const { endedAt } = record;
      await this.ways.life.finishUnwanted(run, { endedAt, use: usageOf(run, record) });
      return this.runs.forget(run);
    }
    const verdict = await this.verdictOf(run, record);
    if (verdict === undefined) {
      this.lookLater(run);
      return;
    }
    if (!run.hasBegun) await this.noteBegin(run, record.begunAt);
    await this.finish(run, record, verdict);
    await this.runs.forget(run);
  }

  /** What the wrapper tells, and what only Slurm can; undefined while it cannot say. */
  private async verdictOf(run: SlurmRun, record: ExitRecord): Promise<Verdict | undefined> {
    const own = verdictOfRecord(record, run.order.cpuTime);
    if (own === undefined) return this.verdictOfSlurm(run, record);
    const { reason, status } = record;
    if (reason !== '' || (status !== KILLED && status !== TERMINATED)) return own;
    // Nobody of ours sent it: perhaps the kernel, which bounds the job's memory for Slurm and ends one process only, or
    // Slurm, whose SIGTERM goes to all processes at once and may reach the payload before the wrapper.
    const view = await this.viewOf(run, record);
    run.goneMs ??= this.now();
    if (view?.kind === 'alive' && this.now() - run.goneMs < SETTLE_MS) return undefined;
    const state = view?.kind === 'gone' ? view.state : '';
    const isSlurms = (status === KILLED ? OF_KILL : OF_TERM).has(state);
    return isSlurms ? verdictOfState(state) : own;
  }

  /** The wrapper got a SIGTERM that was not ours. Undefined while Slurm cannot say why. */
  private async verdictOfSlurm(run: SlurmRun, record: ExitRecord): Promise<Verdict | undefined> {
    const view = await this.viewOf(run, record);
    if (view === undefined || view.kind === 'alive') return undefined;
    const isPlain =
      view.kind === 'forgotten' || ['', 'COMPLETED', 'FAILED', 'NODE_FAIL'].includes(view.state);
    if (!isPlain) return verdictOfState(view.state);
    const app = 'Ended by signal SIGTERM';
    return { isGood: false, minor: MINOR.threadFailed, app };
  }

  private async concludeUnreadable(run: SlurmRun): Promise<void> {
    run.goneMs ??= this.now();
    if (this.now() - run.goneMs < SETTLE_MS) {
      this.lookLater(run);
      return;
    }
    await this.concludeGone(run, 'FAILED');
  }

  private async lookAtQuiet(runs: readonly SlurmRun[]): Promise<void> {
    const now = this.now();
    if (now - this.heartbeatAt >= HEARTBEAT_MS) {
      this.heartbeatAt = now;
      await forEachOf(runs, FINISHING_AT_ONCE, async (run) => {
        if (run.hasBegun) {
          run.noteHeartbeat(await this.parts.directory.heartbeat(run.key), this.now());
        }
      });
    }
    if (now - this.askedAt < ASK_MS) return;
    const silent = runs.filter((run) => {
      const patience = run.hasBegun ? SILENT_MS : NOT_BEGUN_MS;
      return run.batch?.arrayId !== undefined && now - run.seenMs > patience;
    });
    if (silent.length === 0) return;
    this.askedAt = now;
    await this.askAbout(silent);
  }

  private async askAbout(runs: readonly SlurmRun[]): Promise<void> {
    const known = await this.ask(new Set(runs.flatMap((run) => run.batch ?? [])));
    const waits = new Map<SlurmRun, BatchWait>();
    for (const run of runs) {
      const { batch, index = 0 } = run;
      if (batch === undefined) continue;
      const jobs = known.get(batch);
      if (jobs === undefined) continue;
      const view = viewOf(jobs, batch, index);
      await this.follow(run, view);
      if (view.kind === 'alive' && !run.hasBegun) waits.set(run, waitOf(view.job, this.now()));
    }
    await this.noteWaits(waits);
  }

  /** Each is written when it is new, and else now and then, since every note writes a row. */
  private async noteWaits(waits: ReadonlyMap<SlurmRun, BatchWait>): Promise<void> {
    const fresh = [...waits].filter(([{ waitNoted }, wait]) => !isSameWait(waitNoted, wait));
    if (fresh.length === 0) return;
    const { repository, executorId } = this.parts;
    const notes = fresh.map(
      ([
        {
          order: { jid, attempt },
        },
        wait,
      ]) => ({ jid, attempt, wait }),
    );
    await repository.noteWaits(executorId, notes);
    for (const [run, wait] of fresh) run.waitNoted = wait;
  }

  /**
   * What the controller knows of the batches, each asked about in the name of its account: others may not be shown its
   * jobs. Of an account that gets no answer nothing is known, the others are asked nevertheless.
   */
  private async ask(batches: ReadonlySet<StoredBatch>): Promise<Map<StoredBatch, SlurmJob[]>> {
    const known = new Map<StoredBatch, SlurmJob[]>();
    const failed = new Map<string, SlurmError>();
    const groups = byAnswers(groupsOf(this.parts, batches), ([account]) =>
      this.parts.api.as(account),
    );
    await forEachOf(groups, ASKING_AT_ONCE, async ([account, some]) => {
      if (failed.size >= MAX_FAILED) return;
      try {
        await this.askFor(some, known);
      } catch (error) {
        if (!(error instanceof SlurmError)) throw error;
        failed.set(account, error);
      }
    });
    for (const [account, error] of failed) {
      this.parts.logger.warn({ err: error, account }, 'Slurm cannot be asked about runs');
    }
    return known;
  }

  private async askFor(
    batches: readonly StoredBatch[],
    known: Map<StoredBatch, SlurmJob[]>,
  ): Promise<void> {
    if (batches.length > SINGLE_CALLS) return this.askForAll(batches, known);
    for (const batch of batches) {
      known.set(batch, await apiOf(this.parts, batch).job(batch.arrayId ?? 0));
    }
  }

  /** Many batches of one account: the whole table, once. */
  private async askForAll(
    batches: readonly StoredBatch[],
    known: Map<StoredBatch, SlurmJob[]>,
  ): Promise<void> {
    const [first] = batches;
    if (first === undefined) return;
    const byArray = new Map<number, SlurmJob[]>();
    for (const job of await apiOf(this.parts, first).jobs()) {
      const jobs = byArray.get(job.arrayId);
      if (jobs === undefined) byArray.set(job.arrayId, [job]);
      else jobs.push(job);
    }
    for (const batch of batches) known.set(batch, byArray.get(batch.arrayId ?? 0) ?? []);
  }

  /** Asked by the id that the task had on its node: that of an array is answered with all of its tasks. */
  private async viewOf(run: SlurmRun, record: ExitRecord): Promise<ControllerView | undefined> {
    const { batch, index = 0 } = run;
    if (batch?.arrayId === undefined) return undefined;
    const id = Number(record.batchId) || batch.arrayId;
    try {
      return viewOf(await apiOf(this.parts, batch).job(id), batch, index);
    } catch (error) {
      if (error instanceof SlurmError) return undefined;
      throw error;
    }
  }

  private async follow(run: SlurmRun, view: ControllerView): Promise<void> {
    const now = this.now();
    if (view.kind === 'alive') {
      run.seenMs = now;
      run.goneMs = undefined;
      return;
    }
    if (view.kind === 'forgotten' && (await this.parts.directory.preventStart(run.key))) {
      await this.runs.takeOut(run);
      this.finishSoon(run, () => this.concludeGone(run, 'NODE_FAIL'));
      return;
    }
    run.goneMs ??= now;
    const patience = view.kind === 'forgotten' ? UNSEEN_MS : SETTLE_MS;
    if (now - run.goneMs < patience) return;
    const state = view.kind === 'forgotten' ? '' : view.state;
    this.finishSoon(run, () => this.concludeGone(run, state));
  }

  /** Slurm says that it is over, and there is no record of its end. */
  private async concludeGone(run: SlurmRun, state: string): Promise<void> {
    const isStartPrevented = await this.parts.directory.preventStart(run.key);
    // A mark may be missing; what says how it ended is the record.
    const hasRecord = (await this.parts.directory.exitRecord(run.key)) !== undefined;
    if (!isStartPrevented && hasRecord) return this.conclude(run);
    if (run.isStopped) await this.ways.life.finishUnwanted(run, {});
    else if (isStartPrevented) await this.concludeUnstarted(run, state);
    else {
      if (!run.hasBegun) await this.noteBegin(run, new Date(this.now()));
      await this.finish(run, undefined, verdictOfState(state));
    }
    await this.runs.forget(run);
  }

  private async concludeUnstarted(run: SlurmRun, state: string): Promise<void> {
    if (mayTryAgain(state)) {
      await this.ways.life.requeue(
        run,
        `Slurm did not start it${state === '' ? '' : `: ${state}`}`,
      );
      return;
    }
    const fault = new RunFault(MINOR.threadFailed, `Slurm ended it before its start: ${state}`);
    await this.ways.life.refuse(run, fault);
  }

  private async noteBegin(run: SlurmRun, startedAt: Date): Promise<void> {
    const { reference } = run;
    run.hasBegun = true;
    await this.ways.life.begin(run, { startedAt, from: ['Matched', 'Stalled'], reference });
  }

  private async finish(
    run: SlurmRun,
    record: ExitRecord | undefined,
    verdict: Verdict,
  ): Promise<void> {
    await this.ways.life.finish(run, this.ways.place.endOf(run, record, verdict));
    this.ways.accounting.add(run, record);
  }

  private now(): number {
    return this.parts.clock.now();
  }
}

function isSameWait(noted: BatchWait | undefined, wait: BatchWait): boolean {
  if (noted === undefined || noted.reason !== wait.reason) return false;
  const isNew = Date.parse(wait.asOf) - Date.parse(noted.asOf) < WAIT_MS;
  return isNew && noted.expectedStart === wait.expectedStart;
}

function groupsOf(
  parts: OpenSlurmParts,
  batches: Iterable<StoredBatch>,
): Map<string, StoredBatch[]> {
  const groups = new Map<string, StoredBatch[]>();
  for (const batch of batches) {
    const { user } = apiOf(parts, batch);
    const group = groups.get(user);
    if (group === undefined) groups.set(user, [batch]);
    else group.push(batch);
  }
  return groups;
}
