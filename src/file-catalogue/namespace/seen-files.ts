import type { Queryable } from '#src/database/index.js';
import type { Actor, CataloguePolicy, Guarded } from '../access/catalogue.policy.js';
import { isSeen } from '../access/directory-access.js';
import { parentPath, pathChain } from '../path/catalogue-path.js';
import { readDirectories } from './directory-chain.repository.js';

/** Those of the paths of files that the reader may see, if there are such files. */
export async function seenFiles(
  source: Queryable,
  policy: CataloguePolicy,
  { actor, paths }: { actor: Actor; paths: readonly string[] },
): Promise<string[]> {
  const guarded = paths.filter((path) => policy.reach(actor, path) === 'bits');
  const known =
    guarded.length === 0 ? undefined : await readDirectories(source, guarded.map(parentPath));
  const chainTo = (path: string): Guarded[] =>
    known ? pathChain(parentPath(path)).flatMap((above) => known.get(above) ?? []) : [];
  return paths.filter((path) => isSeen(policy, actor, chainTo(path), path));
}
