import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import { Problem, randomId, stringifyJson, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Collector } from '../delivery/collector.js';
import { newSecret, secretText } from '../signature/signature.js';
import type { WebhookSource } from '../sources/webhook-source.js';
import { DeliveriesRepository } from '../store/deliveries.repository.js';
import { WebhookSecrets } from '../store/webhook-secrets.js';
import type { JsonRecord, WebhookEntity } from '../store/webhook.entity.js';
import { WebhooksRepository } from '../store/webhooks.repository.js';
import { TargetRefusal, TargetResolver } from '../target/target-resolver.js';
import { hostOf, webhookUrl } from '../target/webhook-url.js';
import { WebhookAccess, webhookNotFound } from './webhook-access.js';
import type { ChangeWebhookRequest, MakeWebhookRequest } from './webhook.request.js';
import {
  WebhookResponse,
  type MadeWebhookResponse,
  type WebhookSecretResponse,
} from './webhook.response.js';

const DAY_MS = 86_400_000;
const LONGEST_FILTER = 8_192;

/** Makes, changes and removes webhooks. */
@Injectable()
export class WebhooksService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly access: WebhookAccess,
    private readonly webhooks: WebhooksRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly secrets: WebhookSecrets,
    private readonly resolver: TargetResolver,
    private readonly collector: Collector,
  ) {}

  /** POST /webhooks. It is told of what happens from now on. Throws Problem 400, 403, 409. */
  async add(principal: Principal, wanted: MakeWebhookRequest): Promise<MadeWebhookResponse> {
    const source = this.access.source(wanted.source);
    if (!principal.scopes.has(source.scope)) {
      const detail = `To be told of ${source.name} the token needs the scope ${source.scope}, too`;
      throw new Problem('auth.insufficient-scope', detail);
    }
    checkFilter(source, wanted.filter);
    const url = await this.reachable(wanted.url);
    const now = new Date(this.clock.now());
    const [id, secret] = [randomId(), newSecret()];
    const { user, group, setup } = principal;
    const webhook: WebhookEntity = {
      id,
      ...{ user, group, setup, ...actingAs(principal) },
      ...{ url, source: source.name, filter: wanted.filter, description: wanted.description },
      secret: await this.secrets.seal(id, secret),
      ...{ previousSecret: null, previousUntil: null },
      ...{ enabled: true, disabledReason: null, disabledAt: null },
      silent: false,
      position: await source.latest(),
      ...{ createdAt: now, updatedAt: now },
    };
    const most = this.config.webhookLimit;
    if (await this.webhooks.add(webhook, most)) return { id, secret: secretText(secret) };
    throw new Problem('webhook.limit', `You have ${most} webhooks; remove one first`);
  }

  /** GET /webhooks. */
  async list(principal: Principal): Promise<WebhookResponse[]> {
    const now = new Date(this.clock.now());
    const own = await this.webhooks.ofOwner(principal);
    const visible = own.filter((webhook) => this.access.mayUse(principal, webhook));
    return visible.map((webhook) => WebhookResponse.from(webhook, now));
  }

  /** GET /webhooks/<id>. Throws Problem 404. */
  async get(principal: Principal, id: string): Promise<WebhookResponse> {
    const webhook = await this.access.find(principal, id);
    return WebhookResponse.from(webhook, new Date(this.clock.now()));
  }

  /**
   * PATCH /webhooks/<id>. From then on it acts with the rights of the caller's token. Enabled again it goes on where it
   * stopped, or, where the events behind that are not kept any more, with what happens from now on. Throws Problem 400, 404.
   */
  async change(
    principal: Principal,
    id: string,
    { url, filter, description, enabled }: ChangeWebhookRequest,
  ): Promise<WebhookResponse> {
    const found = await this.access.find(principal, id);
    const source = this.access.source(found.source);
    if (filter !== undefined) checkFilter(source, filter);
    const now = new Date(this.clock.now());
    const target = url === undefined ? {} : { url: await this.reachable(url) };
    const resumed = enabled === true ? await this.resumed(found, source) : {};
    const changed = await this.webhooks.change(id, (before) => ({
      ...actingAs(principal),
      ...target,
      updatedAt: now,
      ...(filter !== undefined && { filter }),
      ...(description !== undefined && { description }),
      ...(enabled === false && before.enabled && STOPPED_BY_OWNER(now)),
      ...(!before.enabled && resumed),
    }));
    if (!changed) throw webhookNotFound();
    const { before, after } = changed;
    if (after.enabled && !before.enabled) {
      await this.deliveries.restart(id, now);
      this.collector.wake();
    }
    return WebhookResponse.from(after, now);
  }

  /** DELETE /webhooks/<id>; answers its id. Throws Problem 404. */
  async remove(principal: Principal, id: string): Promise<string> {
    const webhook = await this.access.find(principal, id);
    await this.webhooks.remove(webhook.id);
    return webhook.id;
  }

  /** POST /webhooks/<id>/secret. The secret before signs for a day more; the one before that no longer. Throws Problem 404. */
  async rotate(principal: Principal, id: string): Promise<WebhookSecretResponse> {
    await this.access.find(principal, id);
    const now = this.clock.now();
    const secret = newSecret();
    const previousUntil = new Date(now + DAY_MS);
    const isChanged = await this.webhooks.rotate(id, {
      secret: await this.secrets.seal(id, secret),
      previousUntil,
      updatedAt: new Date(now),
    });
    if (!isChanged) throw webhookNotFound();
    return { id, secret: secretText(secret), previousUntil: previousUntil.toISOString() };
  }

  /** The URL as it is kept. Throws Problem 400 when it leads where webhooks may not go, as far as names say now. */
  private async reachable(text: string): Promise<string> {
    const url = webhookUrl(text) ?? '';
    try {
      await this.resolver.addressesOf(hostOf(url));
      return url;
    } catch (error) {
      if (!(error instanceof TargetRefusal)) throw error;
      throw Problem.invalidField('url', error.message);
    }
  }

  private async resumed(
    { position }: WebhookEntity,
    source: WebhookSource,
  ): Promise<Partial<WebhookEntity>> {
    const isKept = await source.read(position, 1).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Problem && error.status < 500) return false;
        throw error;
      },
    );
    const anew = isKept ? {} : { position: await source.latest() };
    return { enabled: true, disabledReason: null, disabledAt: null, ...anew };
  }
}

const STOPPED_BY_OWNER = (now: Date): Partial<WebhookEntity> => ({
  enabled: false,
  disabledReason: 'by its owner',
  disabledAt: now,
});

/** Whose application and rights count when deliveries are made. */
function actingAs({ clientId, scopes }: Principal): Pick<WebhookEntity, 'clientId' | 'scope'> {
  return { clientId, scope: [...scopes].join(' ') };
}

function checkFilter(source: WebhookSource, filter: JsonRecord): void {
  if (stringifyJson(filter).length > LONGEST_FILTER) {
    throw Problem.invalidField('filter', `has more than ${LONGEST_FILTER} characters`);
  }
  source.checkFilter(filter);
}
