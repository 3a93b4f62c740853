import { Injectable } from '@nestjs/common';
import type { Group } from '#src/registry/index.js';
import type { StorageRights, StorageWish } from '#src/auth/index.js';
import { Database } from '#src/database/index.js';
import { pathChain, pathFault } from '../path/catalogue-path.js';
import { readDirectories, type DirectoryRow } from './directory-chain.repository.js';
import { CataloguePolicy, type Actor } from '../access/catalogue.policy.js';
import { isSeen } from '../access/directory-access.js';
import { isClosedBelow } from './closed-below.repository.js';

/**
 * What the catalogue says of the paths of storage scopes. Such a scope opens everything below its path wherever the token
 * is accepted, so it takes the right on the path, or on the deepest directory on the way to what is not there yet, and on
 * every directory below it.
 */
@Injectable()
export class CatalogueStorageRights implements StorageRights {
  constructor(
    private readonly database: Database,
    private readonly policy: CataloguePolicy,
  ) {}

  async allowed(
    { user, group }: { user: string; group: Group },
    wishes: readonly StorageWish[],
  ): Promise<boolean[]> {
    const { name, properties, vo } = group;
    const reader = { user, group: name, properties, ...(vo !== undefined && { vo }) };
    const actor = await this.policy.lookedUp(reader);
    const paths = wishes.map(({ path }) => path).filter((path) => pathFault(path) === undefined);
    const known = await readDirectories(this.database, paths);
    const answers: boolean[] = [];
    for (const wish of wishes) answers.push(await this.isAllowed(actor, wish, known));
    return answers;
  }

  private async isAllowed(
    actor: Actor,
    { path, right }: StorageWish,
    known: ReadonlyMap<string, DirectoryRow>,
  ): Promise<boolean> {
    if (pathFault(path) !== undefined) return false;
    if (this.policy.manages(actor, path)) return true;
    if (path === '/' && actor.closed.size > 0) return false;
    const chain = pathChain(path).flatMap((one) => known.get(one) ?? []);
    const nearest = chain.at(-1);
    if (!nearest || !isSeen(this.policy, actor, chain, path)) return false;
    if (right === 'write' && !this.policy.mayWrite(actor, nearest)) return false;
    if (nearest.path !== path) return true;
    // What may not be read is not written either: it is not there for the one who asks.
    const needed = [
      ...(right === 'write' ? [right] : []),
      ...(this.policy.reach(actor, path) === 'everything' ? [] : ['read' as const]),
    ];
    for (const one of needed) {
      if (await isClosedBelow(this.database, nearest.label, { actor, right: one })) return false;
    }
    return true;
  }
}
