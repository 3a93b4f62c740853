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

const FILES_OF_JOBS = {
  read: ['catalogue:read', 'brought to the job'],
  create: ['catalogue:write', 'stored for the job'],
} as const;

/** Refuses files of a job that no scope of the token that submits it opens: 403 `insufficient_scope`, which names the first. */
export function requireFiles(
  token: Pick<Principal, 'paths' | 'scopes'>,
  use: 'read' | 'create',
  paths: readonly string[],
): void {
  const [right, what] = FILES_OF_JOBS[use];
  const mayUse = token.scopes.has(right);
  const closed = paths.find((path) => !mayUse || !opensPath(token, use, { path, kind: 'file' }));
  if (closed === undefined) return;
  const detail = `The token may not ${use} ${closed}, which would be ${what}: it needs ${right} or storage.${use}`;
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
