import { Problem } from '#src/kernel/index.js';
import type { Actor, CataloguePolicy, Guarded } from '../catalogue.policy.js';

/**
 * The directory at the end of its chain. 403 when the caller may not read it or one above it, whether it exists or
 * not; 404 when it does not exist.
 */
export function readableEnd<Directory extends Guarded & { path: string }>(
  policy: CataloguePolicy,
  actor: Actor,
  chain: readonly Directory[],
  path: string,
): Directory {
  refuseUnreadable(policy, actor, chain, path);
  const last = chain.at(-1);
  if (last?.path !== path) throw directoryNotFound(path);
  return last;
}

/** 403 when the caller may not read one of the directories on the way to the path. */
export function refuseUnreadable(
  policy: CataloguePolicy,
  actor: Actor,
  chain: readonly Guarded[],
  path: string,
): void {
  if (policy.rules(actor, path)) return;
  if (chain.every((directory) => policy.mayRead(actor, directory))) return;
  throw new Problem('catalogue.forbidden', 'You may not read this directory');
}

/** 404 for a directory. */
export function directoryNotFound(path: string): Problem {
  return new Problem('catalogue.directory-not-found', `There is no directory ${path}`);
}

/** 404 for a file. */
export function fileNotFound(path: string): Problem {
  return new Problem('catalogue.file-not-found', `There is no file ${path}`);
}
