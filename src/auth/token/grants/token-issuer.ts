import { invalidGrant, nothingLeft } from '../../protocol/oauth-errors.js';
import { Injectable } from '@nestjs/common';
import { RegistryService } from '#src/registry/index.js';
import type { ConsentEntity } from '../../stores/consent.entity.js';
import { principalFrom } from '../../bearer/principal.js';
import { AccessTokens, type MintedToken } from '../../bearer/access-token.js';

/** Gives access tokens for consents. */
@Injectable()
export class TokenIssuer {
  constructor(
    private readonly registry: RegistryService,
    private readonly tokens: AccessTokens,
  ) {}

  /**
   * An access token of the consent, with what user and group may do now, narrowed to the asked scopes. Throws 400
   * `invalid_grant` when the user has lost the group, 400 `invalid_scope` when nothing is left.
   */
  async forConsent(consent: ConsentEntity, askedScope?: string): Promise<MintedToken> {
    const registry = await this.registry.current();
    const { user, group, setup, clientId } = consent;
    const grantee = { user, group, setup, clientId, scopes: consent.scope.split(' ') };
    const principal = principalFrom(grantee, registry);
    const asked = askedScope?.split(' ').filter((word) => word !== '') ?? [];
    if (!principal) throw invalidGrant('authorization');
    const scopes = [...principal.scopes].filter(
      (scope) => asked.length === 0 || asked.includes(scope),
    );
    if (scopes.length === 0) throw nothingLeft();
    return this.tokens.mint({ user, group, setup, clientId, scopes, consentId: consent.id });
  }
}
