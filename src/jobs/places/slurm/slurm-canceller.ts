import type { SlurmJob } from './slurm-api.js';
import { SlurmError } from './slurm-error.js';
import type { StoredBatch } from './run-directory.js';
import { forEachOf, type OpenSlurmParts } from './slurm-parts.js';
import type { SlurmRun } from './slurm-run.js';

const AT_ONCE = 8;
const TIDY_MS = 20_000;
/** So long after a fault of the controller starts may still fail that it has forgotten. */
const AFTER_FAULT_MS = 300_000;

/**
 * Takes tasks out of Slurm: whole arrays in one call when nobody wants any task of them, single tasks otherwise.
 * What cannot be told to the controller now is told later. The payload's end does not depend on it, the wrapper
 * sees its `cancel` file; without it a task would only keep its place in Slurm's queue.
 */
export class SlurmCanceller {
  private readonly wanted = new Map<StoredBatch, Set<number>>();
  private working: Promise<void> | undefined;
  private tidiedMs = 0;

  constructor(
    private readonly parts: OpenSlurmParts,
    /** True when some task of the batch is still wanted. */
    private readonly isWanted: (batch: StoredBatch) => boolean,
  ) {}

  /** Notes a task; `flush` tells Slurm. */
  add(batch: StoredBatch, index: number): void {
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
    const left = (await api.jobs()).filter(
      (job) =>
        job.comment.endsWith(`:${directory.mark}`) &&
        isWaitingTask(job) &&
        !wanted.has(`${job.comment} ${job.index ?? 0}`),
    );
    await forEachOf(left, AT_ONCE, async ({ arrayId, index }) => {
      await this.cancel(arrayId, index);
    });
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
      const isOurs = await this.isOurs(batch);
      if (isOurs === false) this.wanted.delete(batch);
      if (isOurs !== true) continue;
      if (batch.keys.length === 1 || !this.isWanted(batch)) {
        if (await this.cancel(batch.arrayId, undefined)) this.wanted.delete(batch);
        continue;
      }
      const { arrayId } = batch;
      await forEachOf([...indices], AT_ONCE, async (index) => {
        if (await this.cancel(arrayId, index)) this.drop(batch, index);
      });
    }
  }

  /** False when the controller has forgotten the array, or gave its id to another job; undefined: it is away. */
  private async isOurs({ arrayId = 0, comment }: StoredBatch): Promise<boolean | undefined> {
    try {
      const jobs = await this.parts.api.job(arrayId);
      return jobs.some((job) => job.comment === comment);
    } catch (error) {
      this.parts.logger.warn({ err: error, arrayId }, 'Slurm cannot be asked about a batch job');
      return undefined;
    }
  }

  private async cancel(arrayId: number, index: number | undefined): Promise<boolean> {
    try {
      await this.parts.api.cancel(arrayId, index);
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
