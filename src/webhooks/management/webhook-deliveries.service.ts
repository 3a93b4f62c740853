import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import { Problem, randomId, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { Attempts } from '../delivery/attempt.service.js';
import { Deliverer, DUE_CHANNEL } from '../delivery/deliverer.js';
import { bodyOf, TEST_TYPE } from '../delivery/message.js';
import { DeliveriesRepository } from '../store/deliveries.repository.js';
import type { DeliveryEntity } from '../store/delivery.entity.js';
import { isId, WebhookAccess, webhookNotFound } from './webhook-access.js';
import type { ListDeliveriesQuery } from './webhook.request.js';
import { DeliveryResponse, type WebhookTestResponse } from './webhook.response.js';

/** Shows deliveries to the owner of a webhook, and sends on demand. */
@Injectable()
export class WebhookDeliveries {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly access: WebhookAccess,
    private readonly deliveries: DeliveriesRepository,
    private readonly attempts: Attempts,
    private readonly deliverer: Deliverer,
    private readonly feed: ChangeFeed,
  ) {}

  /** GET /webhooks/<id>/deliveries, and where the next page is. Throws Problem 404. */
  async list(
    principal: Principal,
    id: string,
    { limit, state, after }: ListDeliveriesQuery,
  ): Promise<{ deliveries: DeliveryResponse[]; next?: string }> {
    await this.access.find(principal, id);
    const before = after === undefined ? {} : { before: Number(after) };
    const which = { limit: limit + 1, ...before, ...(state !== undefined && { state }) };
    const found = await this.deliveries.list(id, which);
    const deliveries = found.slice(0, limit).map((one) => DeliveryResponse.from(one));
    const last = found[limit - 1];
    if (found.length <= limit || !last) return { deliveries };
    const query = new URLSearchParams({ limit: String(limit), ...(state && { state }) });
    query.set('after', String(last.number));
    const base = this.config.publicUrl.replace(/\/$/, '');
    return { deliveries, next: `${base}/webhooks/${id}/deliveries?${query.toString()}` };
  }

  /** POST /webhooks/<id>/test: one attempt, also while the webhook is disabled. Throws Problem 404, 409. */
  async test(principal: Principal, id: string, signal: AbortSignal): Promise<WebhookTestResponse> {
    const webhook = await this.access.find(principal, id);
    const now = new Date(this.clock.now());
    const text = 'This is a test of the webhook.';
    const added = {
      id: randomId(),
      webhookId: id,
      type: TEST_TYPE,
      subject: 'test',
      body: bodyOf({ type: TEST_TYPE, time: now, data: { webhook: id, text } }),
      rights: {},
    };
    const delivery = await this.deliveries.addClaimed(added, now, this.deliverer.leaseMs);
    if (!delivery) throw webhookNotFound();
    const result = await this.attempts
      .make(delivery, webhook, signal)
      .catch(async (error: unknown) => {
        // what nobody waits for must not pile up, nor be sent when nobody expects it
        await this.attempts.drop(delivery, 'interrupted').catch(() => undefined);
        throw error;
      });
    if (!result) throw disabled('Its rights are gone, and it has been disabled');
    const { isDelivered, status, error } = result;
    return {
      id: delivery.id,
      delivered: isDelivered,
      ...(status !== undefined && { status }),
      ...(error !== undefined && { error }),
    };
  }

  /** POST /webhooks/<id>/deliveries/<id>/replay. Throws Problem 404, 409. */
  async replay(principal: Principal, id: string, deliveryId: string): Promise<DeliveryResponse> {
    const webhook = await this.access.find(principal, id);
    const { number } = await this.find(id, deliveryId);
    if (!webhook.enabled) throw disabled('The webhook is disabled; enable it first');
    await this.deliveries.replay(number, new Date(this.clock.now()));
    await this.feed.notify(DUE_CHANNEL);
    return DeliveryResponse.from(await this.find(id, deliveryId));
  }

  private async find(webhookId: string, id: string): Promise<DeliveryEntity> {
    const found = isId(id) ? await this.deliveries.find(webhookId, id) : undefined;
    if (found) return found;
    throw new Problem('webhook.delivery-not-found', 'There is no such delivery of this webhook');
  }
}

function disabled(detail: string): Problem {
  return new Problem('webhook.disabled', detail);
}
