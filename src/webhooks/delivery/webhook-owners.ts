import { Inject, Injectable } from '@nestjs/common';
import { applicationPrincipal, principalFrom, type Principal } from '#src/auth/index.js';
import { APPLICATION_PREFIX, RegistryService, type RegistrySnapshot } from '#src/registry/index.js';
import type { WebhookEntity } from '../store/webhook.entity.js';
import { WEBHOOK_SOURCES, type WebhookSource } from '../sources/webhook-source.js';

/** In whose name a webhook is told of events, or why nobody's any more. */
export type Owner = { principal: Principal; source: WebhookSource } | { refusal: string };

/** Looks at the rights of owners as the registry has them now. */
@Injectable()
export class WebhookOwners {
  constructor(
    private readonly registry: RegistryService,
    @Inject(WEBHOOK_SOURCES) private readonly sources: readonly WebhookSource[],
  ) {}

  /** Throws Problem 503 while the registry cannot be read. */
  async ownerOf(webhook: WebhookEntity): Promise<Owner> {
    const { user, group, setup } = webhook;
    const principal = principalOf(webhook, await this.registry.current());
    const source = this.sources.find(({ name }) => name === webhook.source);
    if (!principal) {
      return {
        refusal: `${user} is not in the registry any more, or not in ${group}, or was not for a while, or ${group} may not use ${setup}, or the application is gone`,
      };
    }
    for (const scope of ['webhooks', source?.scope ?? 'webhooks'] as const) {
      if (!principal.scopes.has(scope))
        return { refusal: `${group} does not give ${scope} any more` };
    }
    if (!source) return { refusal: `there are no events of ${webhook.source} any more` };
    return { principal, source };
  }
}

/** Of a person, or of an application that acts for itself. */
function principalOf(webhook: WebhookEntity, registry: RegistrySnapshot): Principal | undefined {
  const { user, group, setup, clientId } = webhook;
  const scopes = webhook.scope.split(' ');
  // An application that was registered later under the same client_id is another one.
  const givenAt = webhook.updatedAt.getTime() / 1000;
  const grantee = { user, group, setup, clientId, scopes, givenAt };
  if (!user.startsWith(APPLICATION_PREFIX)) return principalFrom(grantee, registry);
  const itself = { ...grantee, user: user.slice(APPLICATION_PREFIX.length) };
  return applicationPrincipal(itself, registry);
}
