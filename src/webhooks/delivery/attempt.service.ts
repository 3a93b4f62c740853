import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import { signatureHeaders } from '../signature/signature.js';
import { DeliveriesRepository } from '../store/deliveries.repository.js';
import type { DeliveryEntity } from '../store/delivery.entity.js';
import { WebhookSecrets } from '../store/webhook-secrets.js';
import type { WebhookEntity } from '../store/webhook.entity.js';
import { WebhooksRepository } from '../store/webhooks.repository.js';
import { Sender, type SendResult } from '../target/sender.js';
import { TEST_TYPE } from './message.js';
import { pauseAfter, TRIED_FOR_MS } from './retry.js';
import { WebhookOwners } from './webhook-owners.js';

/** One attempt of one delivery, with everything that is looked at before and noted afterwards. */
@Injectable()
export class Attempts {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly webhooks: WebhooksRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly owners: WebhookOwners,
    private readonly secrets: WebhookSecrets,
    private readonly sender: Sender,
    private readonly audit: Audit,
  ) {}

  /**
   * Sends a claimed delivery once. A failed one is tried again later, until it has been tried for three days: then the
   * webhook is disabled and the delivery waits until it is enabled again. Answers what came of it; undefined when it was not sent. Throws
   * the signal's reason when it aborts, and what the database or the vault throws: then nothing is noted.
   */
  async make(
    delivery: DeliveryEntity,
    webhook: WebhookEntity,
    signal: AbortSignal,
  ): Promise<SendResult | undefined> {
    const isTest = delivery.type === TEST_TYPE;
    const owner = await this.owners.ownerOf(webhook);
    if ('refusal' in owner) {
      await this.disable(webhook, owner.refusal);
      if (isTest) await this.drop(delivery, owner.refusal);
      else await this.deliveries.release([delivery.number], new Date(this.clock.now()));
      return undefined;
    }
    const { principal, source } = owner;
    if (!isTest && !(await source.maySee(principal, webhook.filter, delivery.rights))) {
      const error = 'the owner may not see this any more';
      const now = new Date(this.clock.now());
      await this.deliveries.finish(delivery.number, 'withheld', { status: null, error }, now);
      return undefined;
    }
    const result = await this.send(delivery, webhook, signal);
    await this.note(delivery, webhook, result);
    return result;
  }

  /** Ends a test that nobody waits for any more. */
  async drop({ number }: DeliveryEntity, error: string): Promise<void> {
    const now = new Date(this.clock.now());
    await this.deliveries.finish(number, 'failed', { status: null, error }, now);
  }

  /** Stops a webhook; the audit trail says why. */
  async disable(webhook: WebhookEntity, reason: string): Promise<void> {
    const { id, user, group, setup, clientId: client } = webhook;
    if (!(await this.webhooks.disable(id, reason, new Date(this.clock.now())))) return;
    const actor = { user, group, setup, client };
    this.audit.done('webhook.disabled', { webhook: id, reason }, { actor });
  }

  private async send(
    { id, body }: DeliveryEntity,
    webhook: WebhookEntity,
    signal: AbortSignal,
  ): Promise<SendResult> {
    const timestamp = new Date(this.clock.now());
    const secrets = await this.secrets.signing(webhook, timestamp);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Gridgate-Webhooks/1.0',
      ...signatureHeaders({ id, timestamp, body }, secrets),
    };
    return this.sender.send({ url: webhook.url, headers, body }, signal);
  }

  private async note(
    delivery: DeliveryEntity,
    webhook: WebhookEntity,
    { isDelivered, status, error, retryAfterSeconds, isSilent = false }: SendResult,
  ): Promise<void> {
    if (isSilent !== webhook.silent) await this.webhooks.noteSilence(webhook, isSilent);
    const { number, attempts, triedSince, type } = delivery;
    const now = new Date(this.clock.now());
    const result = { status: status ?? null, error: error ?? null };
    if (isDelivered) return this.deliveries.finish(number, 'delivered', result, now);
    if (type === TEST_TYPE) return this.deliveries.finish(number, 'failed', result, now);
    const pause = pauseAfter(attempts + 1, retryAfterSeconds);
    await this.deliveries.retry(number, result, new Date(now.getTime() + pause), now);
    if (status === 410)
      await this.disable(webhook, 'the receiver answered 410: it is gone for good');
    else if (triedSince && now.getTime() - triedSince.getTime() >= TRIED_FOR_MS) {
      await this.disable(webhook, `deliveries have failed for three days: ${error}`);
    }
  }
}
