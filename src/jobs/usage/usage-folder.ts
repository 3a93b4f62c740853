import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Scheduler } from '#src/runtime/index.js';
import { UsageRepository } from './usage.repository.js';

const EVERY_MS = 60_000;
/** A batch system's accounting tells late, and corrects single runs only. */
const AFTER_MS = 600_000;
const BATCH = 20_000;
/** As long job groups are told apart; owners, groups and sites always are. */
const GROUPS_KEPT_MS = 100 * 86_400_000;

/** Adds what runs have used to the sums of their days; of all instances one does it at a time. */
@Injectable()
export class UsageFolder implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly scheduler: Scheduler,
    private readonly repository: UsageRepository,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    this.scheduler.add({
      name: 'jobs.usage',
      firstMs: EVERY_MS,
      everyMs: EVERY_MS,
      lock: 'usage',
      run: async ({ transaction }) => {
        const before = new Date(this.clock.now() - AFTER_MS);
        while ((await this.repository.fold(transaction, before, BATCH)) === BATCH);
        const old = new Date(this.clock.now() - GROUPS_KEPT_MS);
        while ((await this.repository.mergeGroups(transaction, old, BATCH)) === BATCH);
      },
    });
  }
}
