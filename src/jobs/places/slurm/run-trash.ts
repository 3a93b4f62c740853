import type { StoredBatch } from './run-directory.js';
import type { OpenSlurmParts } from './slurm-parts.js';
import type { SlurmRun } from './slurm-run.js';

/** Removes runs that are over from the shared directory, many at a time. */
export class RunTrash {
  private runs: SlurmRun[] = [];

  constructor(private readonly parts: Pick<OpenSlurmParts, 'directory' | 'logger'>) {}

  /** Nobody looks after the run any more. */
  add(run: SlurmRun): void {
    this.runs.push(run);
  }

  /** Removes what was added, and the batches of which none of those that are left is part; never throws. */
  async empty(left: Iterable<SlurmRun>): Promise<void> {
    const { directory, logger } = this.parts;
    const trash = this.runs.splice(0);
    if (trash.length === 0) return;
    try {
      await directory.remove(trash.map((run) => run.key));
      const used = new Set([...left].map((run) => run.batch));
      for (const batch of new Set(trash.flatMap((run) => run.batch ?? []))) {
        if (!used.has(batch)) await directory.removeBatch(batch.id);
      }
    } catch (error) {
      logger.warn({ err: error }, 'runs that are over cannot be removed yet');
    }
  }

  /** What a predecessor did not get round to remove: runs that are over and that nobody holds. */
  async clean(batches: readonly StoredBatch[], held: Iterable<SlurmRun>): Promise<void> {
    const { directory } = this.parts;
    const alive = new Set([...held].map((run) => run.key));
    const over: string[] = [];
    for (const key of await directory.known()) {
      if (alive.has(key)) continue;
      if ((await directory.hasEnded(key)) || (await directory.preventStart(key))) over.push(key);
    }
    await directory.remove(over);
    for (const batch of batches) {
      if (!batch.keys.some((key) => alive.has(key))) await directory.removeBatch(batch.id);
    }
  }
}
