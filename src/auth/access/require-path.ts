import type { Principal } from '../bearer/principal.js';
import { allowsBelow, allowsPath, type PathUse } from '../protocol/path-rights.js';
import { bearerProblem } from './bearer-header.js';

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
  throw bearerProblem('insufficient_scope', 'The scope of the token does not hold for this path');
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
