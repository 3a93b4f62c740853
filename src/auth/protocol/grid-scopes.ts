import type { Group } from '#src/registry/index.js';
import { IDENTITY_SCOPES, type IdentityScope } from './identity-scopes.js';
import { coversPath, readScopePath, scopePathText, type ScopePath } from './scope-path.js';
import { ADMIN_SCOPE, SCOPES, scopesOf, type Scope } from './scopes.js';

/** What a storage scope allows below its path (WLCG profile 1.3, 2.2.1). */
export const STORAGE_ACTIONS = ['read', 'create', 'modify', 'stage', 'poll'] as const;

/** What a storage scope allows below its path. */
export type StorageAction = (typeof STORAGE_ACTIONS)[number];

/** The WLCG names of rights over jobs, and what they are among ours; the last two are parts of `jobs:kill`. */
const COMPUTE: Record<ComputeScope, Scope> = {
  'compute.read': 'jobs:read',
  'compute.create': 'jobs:submit',
  'compute.modify': 'jobs:kill',
  'compute.cancel': 'jobs:kill',
};

/** A right over jobs by its WLCG name. */
export type ComputeScope = 'compute.read' | 'compute.modify' | 'compute.create' | 'compute.cancel';

/** What routes ask for. */
export type Right =
  Scope | typeof ADMIN_SCOPE | IdentityScope | 'compute.modify' | 'compute.cancel';

const VERSIONS = ['wlcg', 'wlcg:1.0'];
const MAX_WORDS = 100;
const GROUPS = 'wlcg.groups';
/** A group's name that others understand (WLCG profile 1.3, 2.1.1). */
const GROUP_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** A scope that an access token may carry; `word` is its one spelling. */
export type GridScope =
  | { kind: 'right'; word: Scope | ComputeScope; right: Scope }
  | { kind: 'admin'; word: typeof ADMIN_SCOPE }
  | { kind: 'storage'; word: string; action: StorageAction; path: ScopePath }
  | { kind: 'groups'; word: string; group?: string }
  | { kind: 'identity'; word: IdentityScope }
  | { kind: 'version'; word: string };

/**
 * What can be asked for; storage scopes want a path: `/`, which stands for every path here. Without administration: some
 * applications ask for all that stands here.
 */
export function supportedScopes(): string[] {
  const storage = STORAGE_ACTIONS.map((action) => `storage.${action}:/`);
  return [...SCOPES, ...Object.keys(COMPUTE), 'wlcg', GROUPS, ...storage, ...IDENTITY_SCOPES];
}

/** Those of them that open something here. The others ask for claims, or for a refresh token. */
export function scopesOfRoutes(): string[] {
  const isOfRoutes = (right: Right): boolean => right !== 'offline_access';
  return supportedScopes().filter((word) => rightsOf(readScopes([word])).some(isOfRoutes));
}

/** The scope that a word names; undefined for any other word. */
export function readScope(word: string): GridScope | undefined {
  const scope = SCOPES.find((one) => one === word);
  if (scope) return { kind: 'right', word: scope, right: scope };
  if (isCompute(word)) return { kind: 'right', word, right: COMPUTE[word] };
  if (word === ADMIN_SCOPE) return { kind: 'admin', word };
  const identity = IDENTITY_SCOPES.find((one) => one === word);
  if (identity) return { kind: 'identity', word: identity };
  if (VERSIONS.includes(word)) return { kind: 'version', word };
  if (word === GROUPS) return { kind: 'groups', word };
  if (word.startsWith(`${GROUPS}:/`)) {
    return { kind: 'groups', word, group: word.slice(GROUPS.length + 1) };
  }
  return readStorageScope(word);
}

/** The words of a scope parameter, as many as anybody needs; undefined when there are none. */
export function scopeWords(scope: string | undefined): string[] | undefined {
  const words = (scope ?? '').split(' ').filter((word) => word !== '');
  return words.length === 0 ? undefined : [...new Set(words)].slice(0, MAX_WORDS);
}

/** The rights that scopes give on routes; which paths are meant is another question. */
export function rightsOf(scopes: readonly GridScope[]): Right[] {
  return scopes.flatMap((scope): Right[] => {
    if (scope.kind === 'storage') return RIGHTS_OF_STORAGE[scope.action];
    if (scope.kind === 'identity' || scope.kind === 'admin') return [scope.word];
    if (scope.kind !== 'right') return [];
    const { word, right } = scope;
    return [word === 'compute.modify' || word === 'compute.cancel' ? word : right];
  });
}

/** The scopes among words, in one spelling and each once: those of ours first, in the order of SCOPES. */
export function readScopes(words: readonly string[]): GridScope[] {
  const found = new Map<string, GridScope>();
  for (const word of words) {
    const scope = readScope(word);
    if (scope) found.set(scope.word, scope);
  }
  const place = ({ word }: GridScope): number => {
    const index = SCOPES.findIndex((one) => one === word);
    return index < 0 ? SCOPES.length : index;
  };
  return [...found.values()].sort((a, b) => place(a) - place(b));
}

/**
 * The scopes that a token for a group may have as far as the group's properties say: all of ours, or what is left of those that
 * are asked for. Which paths are the group's, the catalogue says; what is said of the user is for the user to allow.
 */
export function possibleScopes(group: Group, asked: readonly string[] | undefined): GridScope[] {
  const rights = scopesOf(group.properties);
  return readScopes(asked ?? rights).filter((scope) => {
    if (scope.kind === 'right') return rights.includes(scope.right);
    if (scope.kind === 'admin') return group.properties.has('ServiceAdministrator');
    if (scope.kind === 'groups') return groupPath(group) !== undefined;
    if (scope.kind === 'storage') return rights.includes(catalogueRight(scope.action));
    return true;
  });
}

/** The scope of administration, which nothing gets that acts without a user. */
export function isAdmin({ kind }: GridScope): boolean {
  return kind === 'admin';
}

/** The same without what is said of the user: where nobody was asked for it, or is asked apart from the group. */
export function groupScopes(group: Group, asked: readonly string[] | undefined): GridScope[] {
  return possibleScopes(group, asked).filter(({ kind }) => kind !== 'identity');
}

/** True when whoever has the first scope has all that the second allows. */
export function coversScope(outer: GridScope, inner: GridScope): boolean {
  if (inner.kind === 'version' || outer.word === inner.word) return true;
  if (inner.kind === 'groups') return outer.kind === 'groups'; // the claim itself is narrowed
  if (outer.kind === 'right' && inner.kind === 'right') {
    if (isCompute(inner.word)) return outer.word === inner.right;
    return (
      outer.right === inner.word &&
      outer.word !== 'compute.modify' &&
      outer.word !== 'compute.cancel'
    );
  }
  if (outer.kind !== 'storage' || inner.kind !== 'storage') return false;
  return INCLUDED[outer.action].includes(inner.action) && coversPath(outer.path, inner.path);
}

/** `/vo/group` of a group, as others know it; undefined for one that has no such name. */
export function groupPath({ vo, name }: Pick<Group, 'vo' | 'name'>): string | undefined {
  if (vo === undefined || !GROUP_NAME.test(vo) || !GROUP_NAME.test(name)) return undefined;
  return `/${vo}/${name}`;
}

/**
 * The claim `wlcg.groups` (WLCG profile 1.3, 3.1): the groups that are asked for by name, as far as they are the user's
 * and of the same virtual organisation as the token's, in the order of asking; then, or where `wlcg.groups` stands, the
 * token's group and its virtual organisation. Undefined when no groups are asked for.
 */
export function claimedGroups(
  scopes: readonly GridScope[],
  { group, ofUser }: { group: Group; ofUser: readonly Group[] },
): string[] | undefined {
  const asked = scopes.filter((scope) => scope.kind === 'groups');
  const own = groupPath(group);
  if (asked.length === 0 || own === undefined) return undefined;
  const root = `/${group.vo}`;
  const known = new Set([root, ...ofUser.filter(({ vo }) => vo === group.vo).map(groupPath)]);
  const claimed = [...asked, { group: undefined }].flatMap((scope) => {
    if (scope.group === undefined) return [own, root];
    return known.has(scope.group) ? [scope.group] : [];
  });
  return [...new Set(claimed)];
}

/** Which right of the catalogue it takes to be given a storage scope. */
export function catalogueRight(action: StorageAction): 'catalogue:read' | 'catalogue:write' {
  return action === 'create' || action === 'modify' ? 'catalogue:write' : 'catalogue:read';
}

/** Whoever may create or stage may look at attributes (WLCG profile 1.3, 2.2.1: stat). */
const RIGHTS_OF_STORAGE: Record<StorageAction, Right[]> = {
  read: ['catalogue:read'],
  create: ['catalogue:read', 'catalogue:write'],
  modify: ['catalogue:read', 'catalogue:write'],
  stage: ['catalogue:read'],
  poll: [],
};

/** What follows from an action (WLCG profile 1.3, 2.2.1: modify is more than create, stage more than poll). */
const INCLUDED: Record<StorageAction, readonly StorageAction[]> = {
  read: ['read'],
  create: ['create'],
  modify: ['modify', 'create'],
  stage: ['stage', 'poll'],
  poll: ['poll'],
};

function isCompute(word: string): word is ComputeScope {
  return Object.hasOwn(COMPUTE, word);
}

function readStorageScope(word: string): GridScope | undefined {
  const [, name, text] = /^storage\.([a-z]+):(.*)$/.exec(word) ?? [];
  const action = STORAGE_ACTIONS.find((one) => one === name);
  const path = action && readScopePath(text ?? '');
  if (!path) return undefined;
  return { kind: 'storage', word: `storage.${action}:${scopePathText(path)}`, action, path };
}
