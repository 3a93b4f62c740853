import { OAuthProblem } from '#src/kernel/index.js';
import type { Group, RegistrySnapshot, User } from '#src/registry/index.js';
import {
  coversScope,
  groupPath,
  groupScopes,
  isAdmin,
  readScope,
  readScopes,
  type GridScope,
} from '../protocol/grid-scopes.js';

/** What is a capability of the profile or of a later one, whether it is known here or not. */
const CAPABILITY = /^(?:storage|compute)\./;
const STORAGE_WORD = /^storage\.(?:read|create|modify|stage|poll)(?::|$)/;

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

/** The words of a scope claim: a text, or as some issuers write it a list of texts. Undefined for what is neither. */
export function wordsClaimed(scope: unknown): string[] | undefined {
  const texts: unknown = typeof scope === 'string' ? [scope] : (scope ?? []);
  if (!areTexts(texts)) return undefined;
  return texts.flatMap((text) => text.split(' ')).filter((word) => word !== '');
}

/**
 * The capabilities among the words of a provider's scope claim. Where there is one, whatever service it is for and whether
 * it is known here, they alone count, and the group's rights where there is none: undefined (WLCG profile 1.3, 2.2.3).
 */
export function capabilitiesIn(words: readonly string[]): string[] | undefined {
  const known = readScopes(words).filter(({ kind }) => kind === 'right' || kind === 'storage');
  if (known.length === 0 && !words.some((word) => CAPABILITY.test(word))) return undefined;
  return known.map(({ word }) => word);
}

/**
 * Whether a token keeps to the WLCG profile 1.3 as far as it claims to: a version of series 1 (4.3.3), storage scopes
 * with a path in normal form (2.2.1), groups in a list (2.1.1). What says nothing of the profile does; what says that other rules
 * tell what it allows (`ver` of SciTokens) does not.
 */
export function isWlcgConform(claims: Readonly<Record<string, unknown>>): boolean {
  const { 'wlcg.ver': version, 'wlcg.groups': groups, ver, scope } = claims;
  if (version !== undefined && !(typeof version === 'string' && /^1\.[0-9]+$/.test(version))) {
    return false;
  }
  if (groups !== undefined && !areTexts(groups)) return false;
  if (typeof ver === 'string' && /^scitokens?:/i.test(ver)) return false;
  const words = wordsClaimed(scope);
  return words?.every((word) => !STORAGE_WORD.test(word) || readScope(word) !== undefined) ?? false;
}

/**
 * The scopes for which a provider's token may be exchanged, of those that are asked for: within its capabilities where it has
 * them, with no other group named than those that it stands for, and never for administration.
 */
export function exchangeableScopes(
  asked: readonly string[] | undefined,
  token: { group: Group; groups: readonly Group[]; capabilities: readonly string[] | undefined },
): string[] {
  const { group, groups, capabilities } = token;
  const bounds = capabilities && readScopes(capabilities);
  const named = new Set(groups.map(groupPath));
  const isWithin = (scope: GridScope): boolean =>
    scope.kind === 'groups'
      ? scope.group === undefined || named.has(scope.group)
      : (bounds?.some((bound) => coversScope(bound, scope)) ?? true);
  return groupScopes(group, asked ?? capabilities)
    .filter((scope) => !isAdmin(scope) && isWithin(scope))
    .map(({ word }) => word);
}

/** Groups of the user that the claim `wlcg.groups` names, in its order; undefined without the claim. */
export function groupsClaimed(
  registry: RegistrySnapshot,
  user: User,
  { 'wlcg.groups': claimed }: Readonly<Record<string, unknown>>,
): readonly Group[] | undefined {
  if (!Array.isArray(claimed)) return undefined;
  const groups = registry.groupsOf(user.name);
  return claimed.flatMap((name) => groups.filter((group) => groupPath(group) === name));
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function denied(what: 'group' | 'setup'): OAuthProblem {
  return new OAuthProblem('access_denied', `The ${what} is not one that this token allows`, {
    status: 403,
  });
}
