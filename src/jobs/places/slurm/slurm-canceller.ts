import type { BatchAccount } from './batch-accounts.js';
import { isOfBatch } from './controller-view.js';
import type { SlurmApi, SlurmJob } from './slurm-api.js';
import { SlurmError } from './slurm-error.js';
import type { StoredBatch } from './run-directory.js';
import { apiOf, byAnswers, forEachOf, MAX_FAILED, type OpenSlurmParts } from './slurm-parts.js';
import type { SlurmRun } from './slurm-run.js';

const AT_ONCE = 8;
const TIDY_MS = 20_000;
/** Accounts whose tables are asked for in one tidying. */
const TABLES_AT_ONCE = 8;
/** So long after a fault of the controller starts may still fail that it has forgotten. */
const AFTER_FAULT_MS = 300_000;

/**
 * Takes tasks out of Slurm: whole arrays in one call when nobody wants any task of them, single tasks otherwise.
 * Each is taken out in the name of its own account. What cannot be told to the controller now is told later. The payload's end does not depend on it, the wrapper
 * sees its `cancel` file; without it a task would only keep its place in Slurm's queue.
 */
export class SlurmCanceller {
  private readonly wanted = new Map<StoredBatch, Set<number>>();
  private working: Promise<void> | undefined;
  private tidiedMs = 0;
  /** Under which runs of this process ran. */
  private readonly accounts = new Map<string, BatchAccount>();
  private turn = 0;

  constructor(
    private readonly parts: OpenSlurmParts,
    /** True when some task of the batch is still wanted. */
    private readonly isWanted: (batch: StoredBatch) => boolean,
  ) {}

  /** Notes a task; `flush` tells Slurm. */
  add(batch: StoredBatch, index: number): void {
    const { account } = batch;
    if (account) this.accounts.set(account.name, account);
    const indices = this.wanted.get(batch) ?? new Set();
    indices.add(index);
    this.wanted.set(batch, indices);
  }

  /** A task that has ended needs no call any more. */
  drop(batch: StoredBatch, index: number): void {
    const indices = this.wanted.get(batch);
    indices?.delete(index);
    if (indices?.size === 0) this.wanted.delete(batch);
  }

  /**
   * Takes out tasks that a controller which lost its state has queued again ("launch failed requeued held", or with a
   * later begin) although their runs are over. Looks only for a while after a fault.
   */
  async tidy(runs: readonly SlurmRun[]): Promise<void> {
    const { api, clock, directory } = this.parts;
    const now = clock.now();
    if (now - api.lastFaultMs > AFTER_FAULT_MS || now - this.tidiedMs < TIDY_MS) return;
    this.tidiedMs = now;
    const wanted = new Set(
      runs.filter((run) => !run.isStopped).map((run) => `${run.batch?.comment} ${run.index}`),
    );
    const left = (await this.visible(runs)).filter(
      ({ job }) =>
        job.comment.endsWith(`:${directory.mark}`) &&
        isWaitingTask(job) &&
        !wanted.has(`${job.comment} ${job.index ?? 0}`),
    );
    await forEachOf(left, AT_ONCE, async ({ job, api: its }) => {
      await this.cancel(its, job.arrayId, job.index);
    });
  }

  /**
   * The jobs of all accounts that have run something here, each with the way to end it. Where one account is shown
   * jobs of another its table has all; where they are private each is asked, some at a time.
   */
  private async visible(runs: readonly SlurmRun[]): Promise<{ job: SlurmJob; api: SlurmApi }[]> {
    const { api, accounts } = this.parts;
    for (const { account } of runs) if (account) this.accounts.set(account.name, account);
    if (accounts.only) this.accounts.set(accounts.only.name, accounts.only);
    const names = byAnswers(this.accounts.keys(), (name) => api.as(name));
    const found = new Map<number, { job: SlurmJob; api: SlurmApi }>();
    let failed = 0;
    for (let n = 0; n < Math.min(names.length, TABLES_AT_ONCE); n += 1) {
      const name = names[(this.turn + n) % names.length] ?? '';
      const jobs = await this.tableOf(api.as(name));
      if (jobs === undefined) {
        failed += 1;
        if (failed >= MAX_FAILED) break;
        continue;
      }
      for (const job of jobs) {
        // Only in the name of an account that is ours, whoever wrote our mark into a comment.
        const owner = this.ownerOf(job);
        if (owner !== undefined) found.set(job.jobId, { job, api: api.as(owner) });
      }
      if (jobs.some((job) => this.ownerOf(job) !== name)) break;
    }
    this.turn += TABLES_AT_ONCE;
    return [...found.values()];
  }

  /** The account of ours under which a job runs. */
  private ownerOf({ user, uid }: SlurmJob): string | undefined {
    if (user !== '') return this.accounts.has(user) ? user : undefined;
    return [...this.accounts.values()].find((account) => account.uid === uid)?.name;
  }

  private async tableOf(api: SlurmApi): Promise<SlurmJob[] | undefined> {
    try {
      return await api.jobs();
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
      const { user: account } = api;
      this.parts.logger.warn({ err: error, account }, 'Slurm does not answer an account');
      return undefined;
    }
  }

  /** Tells Slurm what it does not know yet; never throws. */
  async flush(): Promise<void> {
    if (this.wanted.size === 0) return;
    this.working ??= this.work().finally(() => (this.working = undefined));
    await this.working;
  }

  private async work(): Promise<void> {
    // Kills that come together go together.
    await new Promise((resolve) => setImmediate(resolve));
    for (const [batch, indices] of [...this.wanted]) {
      if (batch.arrayId === undefined) continue;
      const api = apiOf(this.parts, batch);
      const isOurs = await this.isOurs(batch);
      if (isOurs === false) this.wanted.delete(batch);
      if (isOurs !== true) continue;
      if (batch.keys.length === 1 || !this.isWanted(batch)) {
        if (await this.cancel(api, batch.arrayId)) this.wanted.delete(batch);
        continue;
      }
      const { arrayId } = batch;
      await forEachOf([...indices], AT_ONCE, async (index) => {
        if (await this.cancel(api, arrayId, index)) this.drop(batch, index);
      });
    }
  }

  /** False when the controller has forgotten the array, or gave its id to another job; undefined: it is away. */
  private async isOurs(batch: StoredBatch): Promise<boolean | undefined> {
    const { arrayId = 0 } = batch;
    try {
      const jobs = await apiOf(this.parts, batch).job(arrayId);
      return jobs.some((job) => isOfBatch(job, batch));
    } catch (error) {
      this.parts.logger.warn({ err: error, arrayId }, 'Slurm cannot be asked about a batch job');
      return undefined;
    }
  }

  private async cancel(api: SlurmApi, arrayId: number, index?: number): Promise<boolean> {
    try {
      await api.cancel(arrayId, index);
      return true;
    } catch (error) {
      const isAway = error instanceof SlurmError && error.fault === 'away';
      this.parts.logger.warn({ err: error, arrayId, index }, 'Slurm does not cancel a batch job');
      return !isAway;
    }
  }
}

/** One task, or a job that is no array; not the rest of an array that Slurm still keeps as one. */
function isWaitingTask({ state, index, waitingIndices }: SlurmJob): boolean {
  return state === 'PENDING' && (index !== undefined || waitingIndices === '');
}
