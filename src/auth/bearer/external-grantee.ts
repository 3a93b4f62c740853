import { isJsonObject, OAuthProblem } from '#src/kernel/index.js';
import type { Group, RegistrySnapshot, User } from '#src/registry/index.js';
import { SCOPES, type Scope } from '../protocol/scopes.js';

/** Group and setup that the caller would like. */
export interface Preference {
  group: string | undefined;
  setup: string | undefined;
}

/** Group and setup that a token is good for. */
export interface GroupAndSetup {
  group: Group;
  setup: string;
}

/**
 * Whether the caller may use a token with this confirmation claim (RFC 7800): one that is bound to a certificate from
 * a connection with this certificate (RFC 8705 §3); one that is bound otherwise not at all, a DPoP token is no bearer
 * token (RFC 9449 §7.2).
 */
export function isHolder(confirmation: unknown, thumbprint: string | undefined): boolean {
  if (confirmation === undefined) return true;
  if (!isJsonObject(confirmation) || thumbprint === undefined) return false;
  return Object.keys(confirmation).length === 1 && confirmation['x5t#S256'] === thumbprint;
}

/**
 * Groups of the user that the token stands for, in the order of the registry: those it names, or when it names none,
 * those that no provider has a say in. Membership in the registry is needed in any case.
 */
export function groupsSaid(
  registry: RegistrySnapshot,
  user: User,
  said: readonly string[],
): readonly Group[] {
  return registry.groupsOf(user.name).filter((group) => {
    if (said.length > 0) return said.includes(group.name);
    return group.idpScopes.length === 0 && group.idpRole === undefined;
  });
}

/**
 * The wished group and setup, else the first group, and the provider's setup or the first that is open to the group.
 * Throws 403 `access_denied` when the token does not allow them.
 */
export function chosen(
  groups: readonly Group[],
  preference: Preference,
  { registry, providerSetup }: { registry: RegistrySnapshot; providerSetup: string | undefined },
): GroupAndSetup {
  const group =
    preference.group === undefined
      ? groups[0]
      : groups.find(({ name }) => name === preference.group);
  if (!group) throw denied('group');
  const open = registry.setups().filter(({ name }) => registry.mayUseSetup(group.name, name));
  const name = preference.setup ?? providerSetup ?? open[0]?.name;
  const setup = open.find((one) => one.name === name);
  if (!setup) throw denied('setup');
  return { group, setup: setup.name };
}

/** Scopes of ours among the words of a provider's scope claim. */
export function ownScopes(scope: string | undefined): Scope[] {
  const words = scope?.split(' ') ?? [];
  return SCOPES.filter((known) => words.includes(known));
}

function denied(what: 'group' | 'setup'): OAuthProblem {
  return new OAuthProblem('access_denied', `The ${what} is not one that this token allows`, {
    status: 403,
  });
}
