import type { AuditActor } from '#src/audit/index.js';
import {
  STORAGE_CLIENT,
  type Group,
  type Property,
  type RegistrySnapshot,
} from '#src/registry/index.js';
import { CERTIFICATE_CLIENT, isBuiltIn } from '../clients/built-in-clients.js';
import {
  coversScope,
  groupScopes,
  isAdmin,
  possibleScopes,
  readScopes,
  rightsOf,
  type GridScope,
  type Right,
} from '../protocol/grid-scopes.js';
import { pathRightsOf, type PathRights } from '../protocol/path-rights.js';
import { applicationItself, type AccessTokenClaims } from './access-token.js';
import { isStrict } from '../protocol/client-profile.js';
import type { Confirmation } from '../possession/confirmation.js';

export type { Property } from '#src/registry/index.js';

/** On whose behalf a request acts: what the access token and the registry say of its bearer. */
export interface Principal {
  /** User name in the registry; `application:<client_id>` for an application that acts for itself. */
  readonly user: string;
  /** Canonical DN of the user, '' when the user has no certificate. */
  readonly dn: string;
  /** Group of the token. */
  readonly group: string;
  /** Setup of the token. */
  readonly setup: string;
  /** Virtual organisation of the group, when it has one. */
  readonly vo?: string;
  /** Properties of the group. */
  readonly properties: ReadonlySet<Property>;
  /** What the token's scopes allow on routes, narrowed to what the group allows now. */
  readonly scopes: ReadonlySet<Right>;
  /** Where they hold in the catalogue; absent: everywhere. */
  readonly paths?: PathRights;
  /** Application that got the token; `certificate` for the certificate flow. */
  readonly clientId: string;
  /** To what the token is bound: only its holder may use it. */
  readonly confirmation?: Confirmation;
  /** What the token itself says; absent for one of an identity provider. */
  readonly claims?: AccessTokenClaims;
  /** The token counts in the header only, by the profile of the application. */
  readonly isHeaderOnly?: boolean;
  /** All groups of the user (POSIX checks use the token's group first). */
  readonly userGroups: readonly string[];
}

/**
 * The virtual organisation at whose border what the bearer sees of others ends: its jobs and its part of
 * the catalogue only; '' for what belongs to none. Undefined where they reach everything: with ServiceAdministrator, and
 * in a group without virtual organisation that has a property beyond NormalUser.
 */
export function borderOf(caller: Pick<Principal, 'vo' | 'properties'>): string | undefined {
  if (caller.properties.has('ServiceAdministrator')) return undefined;
  if (caller.vo !== undefined) return caller.vo;
  const isOffice = [...caller.properties].some((property) => property !== 'NormalUser');
  return isOffice ? undefined : '';
}

/** Who the audit trail says it was. */
export function actorOf({ user, group, setup, clientId }: Principal): AuditActor {
  return { user, group, setup, client: clientId };
}

/** What a token says of its bearer. */
export interface Grantee {
  user: string;
  group: string;
  setup: string;
  clientId: string;
  scopes: readonly string[];
  /** When it was given, in seconds since 1970; absent where nobody knows. */
  givenAt?: number | undefined;
}

/**
 * The principal of a token as the registry sees its bearer now; undefined when user, group, setup or application
 * are gone or do not belong together any more.
 */
export function principalFrom(grantee: Grantee, registry: RegistrySnapshot): Principal | undefined {
  const user = registry.userByName(grantee.user);
  const group = registry.group(grantee.group);
  if (!user || !group || !registry.isMember(user.name, group.name, grantee.givenAt)) {
    return undefined;
  }
  const scopes = possibleScopes(group, grantee.scopes);
  return bearerOf(
    grantee,
    { group, scopes, registry },
    {
      user: user.name,
      dn: user.certificates[0]?.subject ?? '',
      userGroups: registry.groupsOf(user.name).map(({ name }) => name),
    },
  );
}

/**
 * The same for an application that acts for itself, under a name that no user can have; `user` is its id. It has no more than it
 * is registered for now.
 */
export function applicationPrincipal(
  grantee: Grantee,
  registry: RegistrySnapshot,
): Principal | undefined {
  const { name, sub: id } = applicationItself(grantee.user);
  const application = registry.client(id);
  const group = registry.group(grantee.group);
  if (!application?.scopes || !group || application.group !== group.name) return undefined;
  if (!registry.isOfIssuer(group)) return undefined;
  const registered = readScopes(application.scopes);
  const scopes = groupScopes(group, grantee.scopes).filter(
    (scope) => !isAdmin(scope) && registered.some((outer) => coversScope(outer, scope)),
  );
  const itself = { user: name, dn: '', userGroups: [group.name] };
  return bearerOf(grantee, { group, scopes, registry }, itself);
}

function bearerOf(
  { clientId, setup, givenAt }: Grantee,
  what: { group: Group; scopes: readonly GridScope[]; registry: RegistrySnapshot },
  who: Pick<Principal, 'user' | 'dn' | 'userGroups'>,
): Principal | undefined {
  const { group, scopes, registry } = what;
  if (!registry.mayUseSetup(group.name, setup) || !isKnownClient(clientId, registry, givenAt)) {
    return undefined;
  }
  const paths = pathRightsOf(scopes);
  return {
    ...who,
    group: group.name,
    setup,
    ...(group.vo !== undefined && { vo: group.vo }),
    properties: group.properties,
    scopes: new Set(rightsOf(scopes)),
    ...(paths && { paths }),
    clientId,
    ...(isStrict(registry.client(clientId) ?? {}) && { isHeaderOnly: true }),
  };
}

/** True for an application that there is, since `givenAt` at least, and for what takes its place: a certificate, or the service. */
export function isKnownClient(id: string, registry: RegistrySnapshot, givenAt = Infinity): boolean {
  const isNone = id === CERTIFICATE_CLIENT || id === STORAGE_CLIENT;
  return isNone || isBuiltIn(id) || registry.isSameClient(id, givenAt);
}
