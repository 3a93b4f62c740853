import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { RegistryService } from '#src/registry/index.js';
import type { Consent } from '../consents/consents.repository.js';
import { principalFrom, SCOPES, type Scope } from '../principal.js';
import { AccessTokens, type MintedToken } from './access-token.js';

/** 400 `invalid_grant`: one answer for every code or token that is no good, so that it tells nothing. */
export function invalidGrant(what: string): OAuthProblem {
  return new OAuthProblem('invalid_grant', `The ${what} is unknown, expired, used or not yours`);
}

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
  async forConsent(consent: Consent, askedScope?: string): Promise<MintedToken> {
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
    return this.tokens.mint({ user, group, setup, clientId, scopes, grantId: consent.id });
  }
}

/** 400 `invalid_scope`: the group allows nothing of what was asked. */
export function nothingLeft(): OAuthProblem {
  return new OAuthProblem(
    'invalid_scope',
    'The group allows none of the scopes that were asked for',
  );
}

/** The known ones among the words of a scope parameter; undefined when it is absent. */
export function knownScopes(asked: string | undefined): Scope[] | undefined {
  if (asked === undefined) return undefined;
  const words = asked.split(' ');
  return SCOPES.filter((scope) => words.includes(scope));
}
