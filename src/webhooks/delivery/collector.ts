import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Problem, randomId, Slices, type Clock, CLOCK } from '#src/kernel/index.js';
import { ChangeFeed, Database, withAdvisoryLock, type Transaction } from '#src/database/index.js';
import { Scheduler, type RunningTask, type TaskOutcome } from '#src/runtime/index.js';
import {
  WEBHOOK_SOURCES,
  type SourceBatch,
  type WebhookSource,
} from '../sources/webhook-source.js';
import { DeliveriesRepository } from '../store/deliveries.repository.js';
import type { WebhookEntity } from '../store/webhook.entity.js';
import { WebhooksRepository } from '../store/webhooks.repository.js';
import { Attempts } from './attempt.service.js';
import { DUE_CHANNEL } from './deliverer.js';
import { bodyOf } from './message.js';
import { WebhookOwners } from './webhook-owners.js';

/** Deliveries that wait for one webhook; a webhook that has so many gets no further ones until some are gone. */
const MOST_WAITING = 1_000;
const EVENTS_AT_ONCE = 500;
const WEBHOOKS_AT_ONCE = 100;
const EVERY_MS = 5_000;

/** Makes deliveries of events: one instance at a time, so that those of a webhook are in the order of the events. */
@Injectable()
export class Collector implements OnApplicationBootstrap, OnModuleDestroy {
  private task: RunningTask | undefined;
  private stopListening: (() => void)[] = [];

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(WEBHOOK_SOURCES) private readonly sources: readonly WebhookSource[],
    private readonly scheduler: Scheduler,
    private readonly database: Database,
    private readonly webhooks: WebhooksRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly owners: WebhookOwners,
    private readonly attempts: Attempts,
  ) {}

  onApplicationBootstrap(): void {
    const task = this.scheduler.add({
      name: 'webhooks.collect',
      everyMs: EVERY_MS,
      firstMs: 0,
      run: () => this.round(),
    });
    this.stopListening = this.sources.map((source) => source.onNews(() => task.wake()));
    this.task = task;
  }

  onModuleDestroy(): void {
    for (const stop of this.stopListening) stop();
  }

  /** Looks for events now; for webhooks that were just enabled. */
  wake(): void {
    this.task?.wake();
  }

  private async round(): Promise<TaskOutcome> {
    let outcome: TaskOutcome;
    for (const source of this.sources) {
      if (await this.collect(source)) outcome = 'more';
    }
    return outcome;
  }

  /** True when there may be more to collect. */
  private async collect(source: WebhookSource): Promise<boolean> {
    const end = await source.latest();
    const which = { end, mostWaiting: MOST_WAITING, limit: WEBHOOKS_AT_ONCE };
    const [some] = await this.webhooks.behind(source.name, { ...which, limit: 1 });
    if (!some) return false; // mostly: then nobody waits for the lock
    const done = await withAdvisoryLock(this.database, 'webhooks', async (transaction) => {
      const behind = await this.webhooks.behind(source.name, which, transaction);
      const positions = await this.collectFor(source, behind, transaction);
      await this.webhooks.advance(positions, transaction);
      return positions.size > 0;
    });
    return done ?? false; // another instance does it
  }

  private async collectFor(
    source: WebhookSource,
    behind: readonly WebhookEntity[],
    transaction: Transaction,
  ): Promise<Map<string, number>> {
    const batches = new Map<number, Promise<SourceBatch>>();
    const positions = new Map<string, number>();
    const slices = Slices.ofLong();
    let isDue = false;
    for (const webhook of behind) {
      const { position } = webhook;
      const batch = batches.get(position) ?? source.read(position, EVENTS_AT_ONCE);
      batches.set(position, batch);
      const made = await this.deliveriesOf(webhook, batch).catch((error: unknown) =>
        this.giveUp(webhook, error),
      );
      if (!made) continue;
      if (made.deliveries.length > 0) {
        await this.deliveries.add(made.deliveries, new Date(this.clock.now()), transaction);
        isDue = true;
      }
      positions.set(webhook.id, made.end);
      if (slices.isOver) await slices.rest();
    }
    if (isDue) await transaction.query(ChangeFeed.notification(DUE_CHANNEL));
    return positions;
  }

  /** Undefined when the webhook has been disabled, or there is nothing behind its position. */
  private async deliveriesOf(webhook: WebhookEntity, batch: Promise<SourceBatch>) {
    const events = await batch;
    const owner = await this.owners.ownerOf(webhook);
    if ('refusal' in owner) {
      await this.attempts.disable(webhook, owner.refusal);
      return undefined;
    }
    if (events.end === undefined) return undefined;
    const selected = await events.select(owner.principal, webhook.filter);
    const deliveries = selected.map((event) => ({
      id: randomId(),
      webhookId: webhook.id,
      type: event.type,
      subject: event.subject,
      body: bodyOf(event),
      rights: event.rights,
    }));
    return { end: events.end, deliveries };
  }

  private async giveUp(webhook: WebhookEntity, error: unknown): Promise<undefined> {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const reason = `events were not collected in time and are not kept any more (${error.code})`;
    await this.attempts.disable(webhook, reason);
  }
}
