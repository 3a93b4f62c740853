import { Injectable } from '@nestjs/common';
import { isJsonObject, OAuthProblem, Problem } from '#src/kernel/index.js';
import {
  IdProvidersService,
  OAuthError,
  type NamedIdProvider,
  type TokenClaims,
} from '#src/id-provider/index.js';
import { PeerCertificates, type HttpRequest } from '#src/platform/index.js';
import {
  RegistryService,
  type Group,
  type RegistrySnapshot,
  type User,
} from '#src/registry/index.js';
import {
  principalFrom,
  SCOPES,
  scopesOf,
  CERTIFICATE_CLIENT,
  type Principal,
} from '../principal.js';

/** For what a provider's token is shown. */
type Use = 'acceptTokens' | 'exchangeTokens';

/** Group and setup that the caller would like. */
export interface Wish {
  group: string | undefined;
  setup: string | undefined;
}

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
  async principal(token: string, request: HttpRequest, wish: Wish): Promise<Principal | undefined> {
    const identity = await this.identify(token, request, 'acceptTokens');
    if (!identity) return undefined;
    const registry = await this.registry.current();
    const { user, group, setup, scope } = grantee(identity, wish, registry);
    const asked = ownScopes(scope);
    const scopes = asked.length > 0 ? asked : scopesOf(group.properties);
    const clientId = CERTIFICATE_CLIENT; // no application of ours stands between
    const principal = principalFrom({ user, group: group.name, setup, clientId, scopes }, registry);
    return principal && { ...principal, clientId: `provider ${identity.named.name}` };
  }

  /** Whom a provider's token may be exchanged for. Throws 400 `invalid_request` when it is no good, 403 likewise. */
  async exchange(token: string, request: HttpRequest, wish: Wish): Promise<ExternalGrantee> {
    const identity = await this.identify(token, request, 'exchangeTokens');
    if (!identity) {
      throw new OAuthProblem('invalid_request', 'The subject_token is not valid here');
    }
    return grantee(identity, wish, await this.registry.current());
  }

  private async identify(
    token: string,
    request: HttpRequest,
    use: Use,
  ): Promise<ExternalIdentity | undefined> {
    for (const named of await this.providers.candidatesFor(token)) {
      if (!named[use]) continue;
      const claims = await verifiedClaims(named, token);
      if (claims?.sub === undefined) continue;
      if (!this.isHolder(claims['cnf'], request)) return undefined;
      const registry = await this.registry.current();
      const user = registry.userBySubject(named.provider.issuer, claims.sub);
      if (!user) return undefined;
      const profile = await named.provider.getUserGroups(token);
      const said = profile.OK ? (profile.Value.groups ?? []) : [];
      const { scope } = claims;
      return { named, user, groups: groupsSaid(registry, user, said), scope };
    }
    return undefined;
  }

  /**
   * Whether the caller may use a token with this confirmation claim (RFC 7800): one that is bound to a certificate from
   * a connection with this certificate (RFC 8705 §3); one that is bound otherwise not at all, a DPoP token is no bearer
   * token (RFC 9449 §7.2).
   */
  private isHolder(confirmation: unknown, request: HttpRequest): boolean {
    if (confirmation === undefined) return true;
    if (!isJsonObject(confirmation)) return false;
    const members = Object.keys(confirmation);
    const thumbprint = this.certificates.thumbprintOf(request);
    return (
      members.length === 1 && thumbprint !== undefined && confirmation['x5t#S256'] === thumbprint
    );
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

/**
 * Groups of the user that the token stands for: those it names, or when it names none, those that no provider has a
 * say in. Membership in the registry is needed in any case.
 */
function groupsSaid(registry: RegistrySnapshot, user: User, said: readonly string[]): Group[] {
  return registry.groupsOf(user.name).filter((group) => {
    if (said.length > 0) return said.includes(group.name);
    return group.idpScopes.length === 0 && group.idpRole === undefined;
  });
}

function grantee(
  identity: ExternalIdentity,
  wish: Wish,
  registry: RegistrySnapshot,
): ExternalGrantee {
  const { user, groups, named, scope } = identity;
  const group =
    wish.group === undefined ? groups[0] : groups.find(({ name }) => name === wish.group);
  if (!group) throw denied('group');
  const open = registry.setups().filter(({ name }) => registry.mayUseSetup(group.name, name));
  const setup = wish.setup ?? named.setup ?? open[0]?.name;
  if (setup === undefined || !open.some(({ name }) => name === setup)) throw denied('setup');
  return { user: user.name, group, setup, scope };
}

function ownScopes(scope: string | undefined): string[] {
  const words = (scope ?? '').split(' ');
  return SCOPES.filter((known) => words.includes(known));
}

function denied(what: 'group' | 'setup'): Problem {
  return new OAuthProblem('access_denied', `The ${what} is not one that this token allows`, {
    status: 403,
  });
}
