import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Scheduler } from '#src/runtime/index.js';
import { DeliveriesRepository } from '../store/deliveries.repository.js';
import { WebhooksRepository } from '../store/webhooks.repository.js';

/** Ended deliveries of one webhook that are kept. */
const MOST_KEPT = 1_000;
const ROWS_AT_ONCE = 5_000;
const EVERY_MS = 60_000;

/** Removes deliveries that are not kept any longer, and secrets that have been replaced. */
@Injectable()
export class WebhookRetention implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly scheduler: Scheduler,
    private readonly deliveries: DeliveriesRepository,
    private readonly webhooks: WebhooksRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.add({
      name: 'webhooks.clean',
      everyMs: EVERY_MS,
      jitter: 0.5,
      run: async () => {
        const now = this.clock.now();
        await this.webhooks.forgetOldSecrets(new Date(now));
        const before = new Date(now - this.config.webhookRetention * 1_000);
        const old = await this.deliveries.removeOld(before, ROWS_AT_ONCE);
        const many = await this.deliveries.removeMany(MOST_KEPT, ROWS_AT_ONCE);
        return Math.max(old, many) >= ROWS_AT_ONCE ? 'more' : undefined;
      },
    });
  }
}
