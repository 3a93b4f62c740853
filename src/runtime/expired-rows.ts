import { LessThan } from 'typeorm';
import type { Clock } from '#src/kernel/index.js';
import type { Database } from '#src/database/index.js';
import type { Scheduler } from './scheduler.js';

const EVERY_MS = 300_000;

/** Removes from tables what has ended, on one instance at a time. */
export class ExpiredRows {
  constructor(
    private readonly scheduler: Scheduler,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Adds the task `expired.<table>`: every five minutes the rows whose `expiresAt` is past are deleted. */
  removeFrom(entity: new () => { expiresAt: Date }): void {
    const { tableName } = this.database.dataSource.getMetadata(entity);
    this.scheduler.add({
      name: `expired.${tableName}`,
      everyMs: EVERY_MS,
      jitter: 0.5,
      lock: 'cleaning',
      run: async ({ transaction }) => {
        const expiresAt = LessThan(new Date(this.clock.now()));
        await transaction.manager.getRepository(entity).delete({ expiresAt });
      },
    });
  }
}
