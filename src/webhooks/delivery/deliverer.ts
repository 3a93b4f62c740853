import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { Scheduler, type RunningTask } from '#src/runtime/index.js';
import { DeliveriesRepository } from '../store/deliveries.repository.js';
import type { DeliveryEntity } from '../store/delivery.entity.js';
import type { WebhookEntity } from '../store/webhook.entity.js';
import { WebhooksRepository } from '../store/webhooks.repository.js';
import { DueAttempts } from './due-attempts.js';

/** Tells every instance that deliveries are due. */
export const DUE_CHANNEL = 'webhooks_due';

/** Deliveries of one webhook that are under way at once, on all instances together. */
const PER_WEBHOOK = 4;
/** The same for all webhooks of one user: receivers that do not answer cost others nothing. */
const PER_USER = 8;
/** Of these for webhooks whose latest attempt was not answered, one each: others of the user go on meanwhile. */
const SILENT_PER_USER = 4;
const LIMITS = { perWebhook: PER_WEBHOOK, perUser: PER_USER, silentPerUser: SILENT_PER_USER };
/** A claim outlives the longest attempt by so much; then its instance is taken for dead. */
const LEASE_SLACK_MS = 20_000;
const EVERY_MS = 1_000;

/** Sends what is due. Every instance takes its share; what a killed one had is due again when its claim ends. */
@Injectable()
export class Deliverer implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly underWay = new Set<Promise<void>>();
  private readonly stopSignal = new AbortController();
  private task: RunningTask | undefined;
  private stopListening = (): void => undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly scheduler: Scheduler,
    private readonly feed: ChangeFeed,
    private readonly deliveries: DeliveriesRepository,
    private readonly webhooks: WebhooksRepository,
    private readonly attempts: DueAttempts,
  ) {}

  onApplicationBootstrap(): void {
    this.task = this.scheduler.add({
      name: 'webhooks.deliver',
      everyMs: EVERY_MS,
      run: () => this.round(),
    });
    this.stopListening = this.feed.listen(DUE_CHANNEL, () => this.task?.wake());
  }

  /** Interrupts what is under way and gives it back. */
  async onModuleDestroy(): Promise<void> {
    this.stopListening();
    this.stopSignal.abort(new Error('stopped'));
    await Promise.all(this.underWay);
  }

  /** Until it ends a claim is good for one attempt. */
  get leaseMs(): number {
    return this.config.webhookTimeout * 1_000 + LEASE_SLACK_MS;
  }

  private async round(): Promise<void> {
    const most = this.config.webhookConcurrency - this.underWay.size;
    if (most <= 0 || this.stopSignal.signal.aborted) return; // the end of one wakes the task
    const limits = { ...LIMITS, most, leaseMs: this.leaseMs };
    const claimed = await this.deliveries.claim(new Date(this.clock.now()), limits);
    if (claimed.length === 0) return;
    const ids = [...new Set(claimed.map(({ webhookId }) => webhookId))];
    const webhooks = new Map((await this.webhooks.findAll(ids)).map((one) => [one.id, one]));
    for (const delivery of claimed) {
      const webhook = webhooks.get(delivery.webhookId);
      if (webhook) this.begin(delivery, webhook); // else it was removed meanwhile, with its deliveries
    }
  }

  private begin(delivery: DeliveryEntity, webhook: WebhookEntity): void {
    const work = this.attempts.make(delivery, webhook, this.stopSignal.signal).finally(() => {
      this.underWay.delete(work);
      this.task?.wake();
    });
    this.underWay.add(work);
  }
}
