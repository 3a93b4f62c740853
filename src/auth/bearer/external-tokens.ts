import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import {
  IdProvidersService,
  OAuthError,
  type NamedIdProvider,
  type TokenClaims,
} from '#src/id-provider/index.js';
import { type HttpRequest, outOfTurn, PeerCertificates } from '#src/platform/index.js';
import {
  RegistryService,
  type Group,
  type RegistrySnapshot,
  type User,
} from '#src/registry/index.js';
import { principalFrom, type Principal } from './principal.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import { scopesOf } from '../protocol/scopes.js';
import { chosen, groupsSaid, isHolder, ownScopes, type Preference } from './external-grantee.js';

/** For what a provider's token is shown. */
type Use = 'acceptTokens' | 'exchangeTokens';

/** A provider's token that has been verified, and the user it belongs to. */
interface ExternalIdentity {
  named: NamedIdProvider;
  user: User;
  /** Groups that the token's claims stand for, in the order of the registry. */
  groups: readonly Group[];
  scope: string | undefined;
}

/** What a provider's token is worth here. */
export interface ExternalGrantee {
  user: string;
  group: Group;
  setup: string;
  scope: string | undefined;
}

/** Access tokens of identity providers, where the provider's entry says that they count (contract 4). */
@Injectable()
export class ExternalTokens {
  constructor(
    private readonly providers: IdProvidersService,
    private readonly registry: RegistryService,
    private readonly certificates: PeerCertificates,
  ) {}

  /**
   * The principal of a provider's token used as bearer; undefined when it is no good. Throws 403 for a group or setup
   * that the user may not have.
   */
  async principal(
    token: string,
    request: HttpRequest,
    preference: Preference,
  ): Promise<Principal | undefined> {
    const identity = await this.identify(token, request, 'acceptTokens');
    if (!identity) return undefined;
    const registry = await this.registry.current();
    const { user, group, setup, scope } = granteeOf(identity, preference, registry);
    const asked = ownScopes(scope);
    const scopes = asked.length > 0 ? asked : scopesOf(group.properties);
    const clientId = CERTIFICATE_CLIENT; // no application of ours stands between
    const principal = principalFrom({ user, group: group.name, setup, clientId, scopes }, registry);
    return principal && { ...principal, clientId: `provider ${identity.named.name}` };
  }

  /** Whom a provider's token may be exchanged for. Throws 400 `invalid_request` when it is no good, 403 likewise. */
  async exchange(
    token: string,
    request: HttpRequest,
    preference: Preference,
  ): Promise<ExternalGrantee> {
    const identity = await this.identify(token, request, 'exchangeTokens');
    if (!identity) {
      throw new OAuthProblem('invalid_request', 'The subject_token is not valid here');
    }
    return granteeOf(identity, preference, await this.registry.current());
  }

  private async identify(
    token: string,
    request: HttpRequest,
    use: Use,
  ): Promise<ExternalIdentity | undefined> {
    for (const named of await this.providers.candidatesFor(token)) {
      if (!named[use]) continue;
      const claims = await outOfTurn(request, () => verifiedClaims(named, token));
      if (claims?.sub === undefined) continue;
      if (!isHolder(claims['cnf'], this.certificates.thumbprintOf(request))) return undefined;
      const registry = await this.registry.current();
      const user = registry.userBySubject(named.provider.issuer, claims.sub);
      if (!user) return undefined;
      const profile = await outOfTurn(request, () => named.provider.getUserGroups(token));
      const said = profile.OK ? (profile.Value.groups ?? []) : [];
      const { scope } = claims;
      return { named, user, groups: groupsSaid(registry, user, said), scope };
    }
    return undefined;
  }
}

/** The claims of a token that its provider has made for us; undefined when it is no good. */
async function verifiedClaims(
  { provider }: NamedIdProvider,
  token: string,
): Promise<TokenClaims | undefined> {
  try {
    return await provider.verifyToken(token);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

/** Whom the token stands for, with the group and setup that it is to be used with. */
function granteeOf(
  { user, groups, named, scope }: ExternalIdentity,
  preference: Preference,
  registry: RegistrySnapshot,
): ExternalGrantee {
  const { group, setup } = chosen(groups, preference, { registry, providerSetup: named.setup });
  return { user: user.name, group, setup, scope };
}
