import { Inject, Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import {
  IdProvidersService,
  OAuthError,
  type NamedIdProvider,
  type TokenClaims,
} from '#src/id-provider/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { HttpRequest } from '#src/http/index.js';
import {
  RegistryService,
  type Group,
  type RegistrySnapshot,
  type User,
} from '#src/registry/index.js';
import { isConfirmation, type Confirmation } from '../possession/confirmation.js';
import { SenderConstraint } from '../possession/sender-constraint.js';
import { TokenHolders, type PresentedToken } from '../possession/token-holders.js';
import { principalFrom, type Principal } from './principal.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import { scopesOf } from '../protocol/scopes.js';
import {
  capabilitiesIn,
  chosen,
  groupsClaimed,
  groupsSaid,
  isWlcgConform,
  wordsClaimed,
  type Preference,
} from './external-grantee.js';

/** For what a provider's token is shown. */
type Use = 'acceptTokens' | 'exchangeTokens';

/** A provider's token that has been verified, and the user it belongs to. */
interface ExternalIdentity {
  named: NamedIdProvider;
  user: User;
  /** Groups that the token's claims stand for, in the order of the registry. */
  groups: readonly Group[];
  /** What it is limited to; undefined for one that has all rights of the group. */
  capabilities: string[] | undefined;
  /** Its claim `cnf`, whatever that is. */
  confirmation: unknown;
  /** When what it is exchanged for ends as well; undefined when that may live on and be renewed. */
  notAfter: Date | undefined;
  /** When it was given, in seconds since 1970; undefined where it does not say. */
  givenAt: number | undefined;
}

/** What a provider's token is worth here. */
export interface ExternalGrantee {
  user: User;
  group: Group;
  setup: string;
  /** All groups that the token stands for. */
  groups: readonly Group[];
  /** What the token is limited to; undefined for one that has all rights of the group. */
  capabilities: string[] | undefined;
  /** To what it is bound. */
  confirmation: Confirmation | undefined;
  /** When what it is exchanged for ends as well; undefined when that may live on and be renewed. */
  notAfter: Date | undefined;
}

/** Access tokens of identity providers, where the provider's entry says that they count. */
@Injectable()
export class ExternalTokens {
  constructor(
    private readonly providers: IdProvidersService,
    private readonly registry: RegistryService,
    private readonly constraint: SenderConstraint,
    private readonly holders: TokenHolders,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * The principal of a provider's token used as bearer; undefined when it is no good. Throws 403 for a group or setup
   * that the user may not have, 401 when the token is bound and the caller is not its holder.
   */
  async principal(
    presented: PresentedToken,
    preference: Preference,
  ): Promise<Principal | undefined> {
    const { token, request } = presented;
    const identity = await this.identify(token, request, 'acceptTokens');
    if (!identity) return undefined;
    await this.holders.check(identity.confirmation, presented);
    const registry = await this.registry.current();
    const { user, group, setup, capabilities } = granteeOf(identity, preference, registry);
    const scopes = capabilities ?? scopesOf(group.properties);
    const clientId = CERTIFICATE_CLIENT; // no application of ours stands between
    const principal = principalFrom(
      { user: user.name, group: group.name, setup, clientId, scopes, givenAt: identity.givenAt },
      registry,
    );
    return principal && { ...principal, clientId: `provider ${identity.named.name}` };
  }

  /** Whom a provider's token may be exchanged for. Throws 400 `invalid_request` when it is no good, 403 likewise. */
  async exchange(
    token: string,
    request: HttpRequest,
    preference: Preference,
  ): Promise<ExternalGrantee> {
    const identity = await this.identify(token, request, 'exchangeTokens');
    if (!identity || !(await this.constraint.proves(identity.confirmation, request))) {
      throw new OAuthProblem('invalid_request', 'The subject_token is not valid here');
    }
    const registry = await this.registry.current();
    const grantee = granteeOf(identity, preference, registry);
    if (registry.isMember(grantee.user.name, grantee.group.name, identity.givenAt)) return grantee;
    throw new OAuthProblem('invalid_request', 'The subject_token is not valid here');
  }

  /** The client component takes what is for every service; whether this one does is a setting. */
  private isForService({ provider }: NamedIdProvider, { aud = [] }: TokenClaims): boolean {
    if (this.config.acceptAnyAudience) return true;
    const { audience } = provider.parameters;
    const ours = [audience].flat();
    return ours.length === 0 || [aud].flat().some((one) => ours.includes(one));
  }

  private async identify(
    token: string,
    request: HttpRequest,
    use: Use,
  ): Promise<ExternalIdentity | undefined> {
    for (const named of await this.providers.candidatesFor(token)) {
      if (!named[use]) continue;
      const claims = await verifiedClaims(named, token);
      if (claims?.sub === undefined || !isWlcgConform(claims)) continue;
      if (!this.isForService(named, claims)) continue;
      const registry = await this.registry.current();
      const user = registry.userBySubject(named.provider.issuer, claims.sub);
      if (!user) return undefined;
      const profile = await named.provider.getUserGroups(token);
      const said = profile.OK ? (profile.Value.groups ?? []) : [];
      const groups = groupsClaimed(registry, user, claims) ?? groupsSaid(registry, user, said);
      const capabilities = capabilitiesIn(wordsClaimed(claims.scope) ?? []);
      const notAfter = endOf(claims, capabilities !== undefined);
      const givenAt = claims.iat ?? undefined;
      return { named, user, groups, capabilities, confirmation: claims['cnf'], notAfter, givenAt };
    }
    return undefined;
  }
}

/**
 * The end of a token that is bound, or of the WLCG profile and limited by capabilities; others begin a session, which outlives
 * them.
 */
function endOf(
  { exp, cnf, 'wlcg.ver': version }: TokenClaims,
  isLimited: boolean,
): Date | undefined {
  const endsWithIt = cnf !== undefined || (isLimited && version !== undefined);
  return endsWithIt && exp !== undefined ? new Date(exp * 1000) : undefined;
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
  { user, groups, named, capabilities, confirmation, notAfter }: ExternalIdentity,
  preference: Preference,
  registry: RegistrySnapshot,
): ExternalGrantee {
  const { group, setup } = chosen(groups, preference, { registry, providerSetup: named.setup });
  const bond = isConfirmation(confirmation) ? confirmation : undefined;
  return { user, group, setup, groups, capabilities, confirmation: bond, notAfter };
}
