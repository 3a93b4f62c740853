import type { OnApplicationBootstrap } from '@nestjs/common';
import type { Clock } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import type { Scheduler } from '#src/runtime/index.js';
import type { AuditEventsRepository } from './audit-events.repository.js';
import type { AuditWriter } from './audit-writer.js';

const DAY_MS = 86_400_000;
/** From the end of one statement to the next: with the statement itself a second at most. */
const WRITE_EVERY_MS = 800;
const RETRY_MS = 2_000;
const CLEAN_EVERY_MS = 300_000;
const REMOVED_AT_ONCE = 5_000;

/** Whose work it is. */
export interface AuditKeeperParts {
  config: Pick<Config, 'auditRetention'>;
  clock: Clock;
  scheduler: Scheduler;
  writer: AuditWriter;
  repository: AuditEventsRepository;
}

/** Writes the audit trail into the database while the server runs, and removes what is not kept any longer. */
export class AuditKeeper implements OnApplicationBootstrap {
  constructor(private readonly parts: AuditKeeperParts) {}

  onApplicationBootstrap(): void {
    const { scheduler, writer } = this.parts;
    const task = scheduler.add({
      name: 'audit.keep',
      firstMs: 0,
      everyMs: WRITE_EVERY_MS,
      retryMs: RETRY_MS,
      jitter: 0,
      run: () => writer.write(),
    });
    writer.onFull = () => task.wake();
    scheduler.add({
      name: 'audit.clean',
      everyMs: CLEAN_EVERY_MS,
      jitter: 0.5,
      lock: 'auditCleaning',
      run: async ({ transaction }) => {
        const { config, clock, repository } = this.parts;
        const before = new Date(clock.now() - config.auditRetention * DAY_MS);
        const removed = await repository.remove(transaction, before, REMOVED_AT_ONCE);
        return removed >= REMOVED_AT_ONCE ? 'more' : undefined;
      },
    });
  }
}
