import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { LOGGER, Metrics, type Logger } from '#src/runtime/index.js';
import { DeliveriesRepository } from '../store/deliveries.repository.js';
import type { DeliveryEntity } from '../store/delivery.entity.js';
import type { WebhookEntity } from '../store/webhook.entity.js';
import { Attempts } from './attempt.service.js';

const PAUSE_AFTER_FAULT_MS = 30_000;

/** Attempts that nobody waits for: they are counted, and what could not be tried is due again later. */
@Injectable()
export class DueAttempts {
  private readonly counter;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly deliveries: DeliveriesRepository,
    private readonly attempts: Attempts,
    metrics: Metrics,
  ) {
    this.counter = metrics.counter(
      'gridgate_webhook_attempts_total',
      'Attempts to send webhooks, by what came of them',
      ['outcome'],
    );
  }

  /** Sends a claimed delivery once. Never rejects. */
  async make(delivery: DeliveryEntity, webhook: WebhookEntity, signal: AbortSignal): Promise<void> {
    try {
      const result = await this.attempts.make(delivery, webhook, signal);
      const outcome =
        result === undefined ? 'withheld' : result.isDelivered ? 'delivered' : 'failed';
      this.counter.inc({ outcome });
    } catch (error) {
      const pause = signal.aborted ? 0 : PAUSE_AFTER_FAULT_MS;
      const next = new Date(this.clock.now() + pause);
      if (!signal.aborted) {
        this.logger.error({ err: error, webhook: webhook.id }, 'a webhook was not tried');
      }
      await this.deliveries.release([delivery.number], next).catch(() => undefined); // its claim ends by itself
    }
  }
}
