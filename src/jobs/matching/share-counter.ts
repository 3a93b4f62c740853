import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Scheduler } from '#src/runtime/index.js';
import { SharesRepository } from './shares.repository.js';

const EVERY_SECONDS = 5;

/** Counts who uses how many processors; of all instances that run jobs one does it at a time. */
@Injectable()
export class ShareCounter implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly scheduler: Scheduler,
    private readonly repository: SharesRepository,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api' || !this.config.shares) return;
    this.scheduler.add({
      name: 'jobs.shares',
      firstMs: 0,
      everyMs: EVERY_SECONDS * 1000,
      lock: 'shares',
      run: async ({ transaction }) =>
        this.repository.count(transaction, {
          now: new Date(this.clock.now()),
          halfLife: this.config.shareHalfLife,
          everySeconds: EVERY_SECONDS,
        }),
    });
  }
}
