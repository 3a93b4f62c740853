import { Inject, Injectable } from '@nestjs/common';
import { OAuthProblem, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { Transaction } from '#src/database/index.js';
import { RegistryService } from '#src/registry/index.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import { ClientsService } from '../clients/clients.service.js';
import { askedAudiences, EVERY_AUDIENCE, narrowedAudiences } from '../protocol/audience.js';
import { isAdmin, readScope, scopeWords } from '../protocol/grid-scopes.js';
import { invalidGrant } from '../protocol/oauth-errors.js';
import { RevocationsRepository } from '../stores/revocations.repository.js';
import {
  AccessTokens,
  isOfApplication,
  WLCG_VERSION,
  type AccessTokenClaims,
  type MintedToken,
} from './access-token.js';
import type { Principal } from './principal.js';
import { ScopeGranter, type GrantedScopes } from './scope-granter.js';
import { holderOf, type HolderClaims } from './bearer-tokens.js';

/**
 * What somebody's work may later be given tokens for, without them: claims that are in nothing wider than those of the
 * token that it was started with. JSON, and no secret.
 */
export interface Delegation extends HolderClaims {
  readonly aud: readonly string[];
  readonly 'wlcg.groups'?: readonly string[];
}

/** What is asked for. */
export interface DelegationWish {
  /** Words separated by blanks. */
  scope: string;
  /** Services that it is for; those of the token of the request when absent. */
  audience?: string[] | undefined;
}

/** Access tokens for work that goes on when the one who has started it is gone. */
@Injectable()
export class Delegations {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly registry: RegistryService,
    private readonly clients: ClientsService,
    private readonly granter: ScopeGranter,
    private readonly tokens: AccessTokens,
    private readonly revocations: RevocationsRepository,
  ) {}

  /**
   * What of the wish is within the token of the request, and the words of its scope that are not. Throws OAuthProblem 400:
   * `invalid_scope` when nothing is left, `invalid_target` for an audience that is not the token's, `invalid_request` for
   * a token that cannot be passed on: of an identity provider, or bound to a key.
   */
  async within(
    { claims, confirmation, user }: Principal,
    wish: DelegationWish,
  ): Promise<{ delegation: Delegation; refused: string[] }> {
    if (!claims) {
      throw refusal(
        'The token of the request is an identity provider’s: exchange it for one of ours',
      );
    }
    if (confirmation) {
      throw refusal('The token of the request is bound to a key, which the job does not have');
    }
    const audiences = narrowedAudiences(askedAudiences({ audience: wish.audience }), {
      parent: [claims.aud].flat(),
      possible: await this.audiencesOf(claims.client_id),
    });
    const { scopes, groups } = await this.granted(claims, wish.scope);
    const delegation: Delegation = {
      sub: await this.subjectOf(claims, user),
      preferred_username: user,
      'wlcg.ver': WLCG_VERSION,
      client_id: claims.client_id,
      group: claims.group,
      setup: claims.setup,
      scope: scopes.join(' '),
      aud: [...audiences],
      ...(groups && { 'wlcg.groups': groups }),
      ...(claims.act && { act: claims.act }),
      ...(claims.iat !== undefined && { iat: claims.iat }),
    };
    const refused = (scopeWords(wish.scope) ?? []).filter(
      (word) => !scopes.includes(readScope(word)?.word ?? ''),
    );
    return { delegation, refused };
  }

  /**
   * A token of the delegation as far as its user, group and application have these rights now. All tokens of an `id`
   * (no dot in it) can be revoked together. Throws OAuthProblem 400 `invalid_grant` or `invalid_scope` when nothing of them is left.
   */
  async mint(delegation: Delegation, id: string): Promise<MintedToken> {
    const { sub, group, setup, aud, act, client_id: clientId } = delegation;
    const holder = holderOf(delegation, await this.registry.current());
    if (!holder) throw invalidGrant('right to the token');
    const granted = await this.granted(delegation);
    return this.tokens.mint({
      ...granted,
      user: { name: holder.user, sub },
      ...{ group, setup, clientId, audiences: aud, parentId: id },
      ...(act && { act }),
    });
  }

  /** Ends all tokens of an id, those that are being made this moment too. */
  async revoke(id: string, transaction: Transaction): Promise<void> {
    const life = { now: this.clock.now(), ttlSeconds: this.config.accessTokenTtl };
    await this.revocations.addOrigin(id, life, transaction);
  }

  private async granted(
    claims: HolderClaims & { readonly 'wlcg.groups'?: readonly string[] },
    asked?: string,
  ): Promise<GrantedScopes> {
    const registry = await this.registry.current();
    const holder = holderOf(claims, registry);
    const group = registry.group(claims.group);
    if (!holder || !group) throw invalidGrant('right to the token');
    return this.granter.grant({
      user: { name: holder.user },
      group,
      asked,
      within: claims.scope,
      withinGroups: claims['wlcg.groups'] ?? [],
      isRefused: isAdmin,
    });
  }

  /** Who has a token by certificate may ask for every audience. */
  private async audiencesOf(clientId: string): Promise<readonly string[]> {
    if (clientId === CERTIFICATE_CLIENT) return [EVERY_AUDIENCE];
    const client = await this.clients.find(clientId);
    return client ? this.clients.audiencesOf(client) : [];
  }

  /** Tokens of older versions call the user by name. */
  private async subjectOf(claims: AccessTokenClaims, user: string): Promise<string> {
    if (isOfApplication(claims)) return claims.sub;
    const sub = (await this.registry.current()).userByName(user)?.sub;
    if (sub === undefined) throw invalidGrant('right to the token');
    return sub;
  }
}

function refusal(description: string): OAuthProblem {
  return new OAuthProblem('invalid_request', description);
}
