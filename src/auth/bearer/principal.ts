import type { AuditActor } from '#src/platform/index.js';
import type { Property, RegistrySnapshot } from '#src/registry/index.js';
import { CERTIFICATE_CLIENT, isBuiltIn } from '../clients/built-in-clients.js';
import { scopesOf, type Scope } from '../protocol/scopes.js';

export type { Property } from '#src/registry/index.js';

/** On whose behalf a request acts: what the access token and the registry say of its bearer. */
export interface Principal {
  /** User name in the registry. */
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
  /** Scopes of the token, narrowed to what the group allows now. */
  readonly scopes: ReadonlySet<Scope>;
  /** Application that got the token; `certificate` for the certificate flow. */
  readonly clientId: string;
  /** All groups of the user (POSIX checks use the token's group first). */
  readonly userGroups: readonly string[];
}

/**
 * The virtual organisation at whose border the properties of the group end (contract 12): they reach its jobs and its
 * part of the catalogue only. Undefined where they reach everything: without virtual organisation, and with
 * ServiceAdministrator.
 */
export function borderOf(caller: Pick<Principal, 'vo' | 'properties'>): string | undefined {
  return caller.properties.has('ServiceAdministrator') ? undefined : caller.vo;
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
}

/**
 * The principal of a token as the registry sees its bearer now; undefined when user, group, setup or application
 * are gone or do not belong together any more.
 */
export function principalFrom(grantee: Grantee, registry: RegistrySnapshot): Principal | undefined {
  const { clientId, setup } = grantee;
  const user = registry.userByName(grantee.user);
  const group = registry.group(grantee.group);
  if (!user || !group || !registry.isMember(user.name, group.name)) return undefined;
  if (!registry.mayUseSetup(group.name, setup)) return undefined;
  if (!isKnownClient(clientId, registry)) return undefined;
  const scopes = scopesOf(group.properties).filter((scope) => grantee.scopes.includes(scope));
  return {
    user: user.name,
    dn: user.certificates[0]?.subject ?? '',
    group: group.name,
    setup,
    ...(group.vo !== undefined && { vo: group.vo }),
    properties: group.properties,
    scopes: new Set(scopes),
    clientId,
    userGroups: registry.groupsOf(user.name).map(({ name }) => name),
  };
}

function isKnownClient(id: string, registry: RegistrySnapshot): boolean {
  return id === CERTIFICATE_CLIENT || isBuiltIn(id) || registry.client(id) !== undefined;
}
