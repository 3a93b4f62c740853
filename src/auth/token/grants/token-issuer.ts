import { askedAudiences, refuseOthers, type AudienceWish } from '../../protocol/audience.js';
import { invalidGrant } from '../../protocol/oauth-errors.js';
import { Injectable } from '@nestjs/common';
import { RegistryService, type Client, type User } from '#src/registry/index.js';
import type { ConsentEntity } from '../../stores/consent.entity.js';
import type { Confirmation } from '../../possession/confirmation.js';
import { principalFrom } from '../../bearer/principal.js';
import { ClientsService } from '../../clients/clients.service.js';
import { ScopeGranter } from '../../bearer/scope-granter.js';
import { AccessTokens, type MintedToken } from '../../bearer/access-token.js';
import { IdTokens } from '../../bearer/id-token.js';

/** What a request at the token endpoint says of the tokens that it wants. */
export interface Wish extends AudienceWish {
  /** Words separated by blanks; all that the consent allows when absent. */
  scope?: string | undefined;
  /** Of the authorization request; goes into the ID token. */
  nonce?: string | undefined;
  /** To what the access token is bound. */
  confirmation?: Confirmation | undefined;
  /** The access token ends then at the latest. */
  notAfter?: Date;
}

/** An access token, and the ID token beside it when its scope says so. */
export type IssuedTokens = MintedToken & { idToken?: string };

/** Gives access tokens and ID tokens for consents. */
@Injectable()
export class TokenIssuer {
  constructor(
    private readonly registry: RegistryService,
    private readonly tokens: AccessTokens,
    private readonly idTokens: IdTokens,
    private readonly clients: ClientsService,
    private readonly granter: ScopeGranter,
  ) {}

  /**
   * An access token of the consent, with what user and group may do now, narrowed to what is asked. Throws 400
   * `invalid_grant` when the user has lost the group, `invalid_scope` when nothing is left, `invalid_target` for an
   * audience that the consent or the application does not have.
   */
  async forConsent(consent: ConsentEntity, wish: Wish = {}): Promise<IssuedTokens> {
    const registry = await this.registry.current();
    const { user: name, group: groupName, setup, clientId, scope: within } = consent;
    const user = registry.userByName(name);
    const group = registry.group(groupName);
    const scopes = within.split(' ');
    const givenAt = consent.createdAt.getTime() / 1000;
    const grantee = { user: name, group: groupName, setup, clientId, scopes, givenAt };
    const isAlive = principalFrom(grantee, registry) !== undefined;
    if (!isAlive || !user || !group || !isOf(consent, user)) throw invalidGrant('authorization');
    const client = await this.clients.find(clientId);
    if (!client) throw invalidGrant('authorization');
    const audiences = this.audiencesOf(client, consent, askedAudiences(wish));
    const granted = await this.granter.grant({ user, group, asked: wish.scope, within });
    const { confirmation, notAfter } = wish;
    const input = { user, group: groupName, setup, clientId, audiences, parentId: consent.id };
    const end = notAfter && { notAfter };
    const minted = await this.tokens.mint({ ...input, ...granted, confirmation, ...end });
    const idToken = await this.idTokens.mint(consent, minted, {
      ...{ nonce: wish.nonce, algorithm: client.idTokenAlg },
    });
    return idToken === undefined ? minted : { ...minted, idToken };
  }

  private audiencesOf(
    client: Client,
    { audience }: ConsentEntity,
    asked: string[] | undefined,
  ): readonly string[] {
    const possible = this.clients.audiencesOf(client);
    const wanted = asked ?? audience ?? possible.slice(0, 1);
    refuseOthers(wanted, possible);
    if (audience) refuseOthers(wanted, audience);
    return wanted;
  }
}

/** A name may have gone to somebody else since. */
function isOf({ sub }: ConsentEntity, user: User): boolean {
  return sub === null || sub === user.sub;
}
