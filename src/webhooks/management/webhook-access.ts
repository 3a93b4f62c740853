import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import { Problem } from '#src/kernel/index.js';
import { WEBHOOK_SOURCES, type WebhookSource } from '../sources/webhook-source.js';
import type { SourceName, WebhookEntity } from '../store/webhook.entity.js';
import { WebhooksRepository } from '../store/webhooks.repository.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Who may do something with a webhook: its user, with a token for the group and setup for which it was made and the scope that
 * reads its source. Any other token might have fewer rights than the webhook, and could lead its events elsewhere.
 */
@Injectable()
export class WebhookAccess {
  constructor(
    private readonly webhooks: WebhooksRepository,
    @Inject(WEBHOOK_SOURCES) private readonly sources: readonly WebhookSource[],
  ) {}

  source(name: SourceName): WebhookSource {
    const source = this.sources.find((one) => one.name === name);
    if (!source) throw new Error(`there is no source ${name}`);
    return source;
  }

  mayUse(principal: Principal, webhook: WebhookEntity): boolean {
    const { user, group, setup } = principal;
    const isOwn = webhook.user === user && webhook.group === group && webhook.setup === setup;
    return isOwn && principal.scopes.has(this.source(webhook.source).scope);
  }

  /** Throws Problem 404 for what is not there or not the caller's. */
  async find(principal: Principal, id: string): Promise<WebhookEntity> {
    const webhook = UUID.test(id) ? await this.webhooks.find(id) : undefined;
    if (webhook && this.mayUse(principal, webhook)) return webhook;
    throw webhookNotFound();
  }
}

/** 404 that says no more than that. */
export function webhookNotFound(): Problem {
  return new Problem(
    'webhook.not-found',
    'There is no such webhook of yours in this group and setup',
  );
}

/** True for the id of a delivery, which the database takes. */
export function isId(text: string): boolean {
  return UUID.test(text);
}
