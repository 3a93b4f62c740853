import { Problem } from '#src/kernel/index.js';
import type { Actor, CataloguePolicy, Guarded } from './catalogue.policy.js';

/**
 * The directory at the end of its chain. 404 when it does not exist, and likewise when the caller may not read it or
 * one above it: what no listing shows is not there for who asks. The root is there for everybody: 403.
 */
export function readableEnd<Directory extends Guarded & { path: string }>(
  policy: CataloguePolicy,
  actor: Actor,
  chain: readonly Directory[],
  path: string,
): Directory {
  const last = chain.at(-1);
  if (last?.path === path && isSeen(policy, actor, chain, path)) return last;
  if (path !== '/') throw directoryNotFound(path);
  throw new Problem('catalogue.forbidden', 'You may not read this directory');
}

/** May the caller see what has this path, as the directories on the way to it say, which are given? */
export function isSeen(
  policy: CataloguePolicy,
  actor: Actor,
  chain: readonly Guarded[],
  path: string,
): boolean {
  const reach = policy.reach(actor, path);
  if (reach !== 'bits') return reach === 'everything';
  return chain.every((directory) => policy.mayRead(actor, directory));
}

/** 404 for a directory. */
export function directoryNotFound(path: string): Problem {
  return new Problem('catalogue.directory-not-found', `There is no directory ${path}`);
}

/** 404 for a file. */
export function fileNotFound(path: string): Problem {
  return new Problem('catalogue.file-not-found', `There is no file ${path}`);
}
