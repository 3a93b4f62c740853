import { coversPath, scopePathOf, type ScopePath } from './scope-path.js';
import type { GridScope, StorageAction } from './grid-scopes.js';

/** What is done with a path of the catalogue. */
export type PathUse = 'read' | 'stat' | 'create' | 'change';

/** The storage scopes that allow a use (WLCG profile 1.3, 2.2.1). */
const ALLOWING: Record<PathUse, readonly StorageAction[]> = {
  read: ['read'],
  stat: ['read', 'create', 'modify', 'stage'],
  create: ['create', 'modify'],
  change: ['modify'],
};

/** Where a token may be used in the catalogue: below these paths; a use that is left out, everywhere. */
export type PathRights = Readonly<Partial<Record<PathUse, readonly ScopePath[]>>>;

/** What scopes say of paths; undefined when none of them names one. */
export function pathRightsOf(scopes: readonly GridScope[]): PathRights | undefined {
  if (!scopes.some(({ kind }) => kind === 'storage')) return undefined;
  const has = (word: string): boolean => scopes.some((scope) => scope.word === word);
  const below = (use: PathUse): readonly ScopePath[] =>
    scopes.flatMap((scope) =>
      scope.kind === 'storage' && ALLOWING[use].includes(scope.action) ? [scope.path] : [],
    );
  return {
    ...(!has('catalogue:read') && { read: below('read'), stat: below('stat') }),
    ...(!has('catalogue:write') && { create: below('create'), change: below('change') }),
  };
}

/** Do the rights allow this use of something below the directory? */
export function allowsBelow(rights: PathRights | undefined, use: PathUse, path: string): boolean {
  const above = scopePathOf(path, 'directory');
  return rights?.[use]?.some((place) => coversPath(above, place)) ?? true;
}

/** Do the rights allow this use of the path? */
export function allowsPath(
  rights: PathRights | undefined,
  use: PathUse,
  { path, kind }: { path: string; kind: 'directory' | 'file' },
): boolean {
  const places = rights?.[use];
  if (places === undefined) return true;
  const wanted = scopePathOf(path, kind);
  return places.some((place) => coversPath(place, wanted));
}
