import type { Principal } from '../bearer/principal.js';
import { challenged } from '../protocol/challenges.js';
import { allowsBelow, allowsPath, type PathUse } from '../protocol/path-rights.js';

/**
 * Refuses a path that no scope of the token opens for this use: 403 `insufficient_scope`, whether there is anything at the
 * path or not.
 */
export function requirePath(
  token: Pick<Principal, 'paths'>,
  use: PathUse,
  place: { path: string; kind: 'directory' | 'file' },
): void {
  if (opensPath(token, use, place)) return;
  const detail = 'The scope of the token does not hold for this path';
  throw challenged('Bearer', 'insufficient_scope', detail);
}

/** Refuses input files of a job that no scope of the token that submits it opens: 403 `insufficient_scope`, which names the first. */
export function requireInputs(
  token: Pick<Principal, 'paths' | 'scopes'>,
  paths: readonly string[],
): void {
  const mayRead = token.scopes.has('catalogue:read');
  const closed = paths.find(
    (path) => !mayRead || !opensPath(token, 'read', { path, kind: 'file' }),
  );
  if (closed === undefined) return;
  const detail = `The token may not read ${closed}, which would be brought to the job: it needs catalogue:read or storage.read`;
  throw challenged('Bearer', 'insufficient_scope', detail);
}

/** True when the scopes of the token open the path for this use. */
export function opensPath(
  { paths }: Pick<Principal, 'paths'>,
  use: PathUse,
  place: { path: string; kind: 'directory' | 'file' },
): boolean {
  return allowsPath(paths, use, place);
}

/** True when the directory is on the way to a path that a scope of the token opens for this use. */
export function leadsTo(
  { paths }: Pick<Principal, 'paths'>,
  use: PathUse,
  directory: string,
): boolean {
  return allowsBelow(paths, use, directory);
}
