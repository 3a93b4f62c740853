import { Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import { EventLog } from '#src/events/index.js';
import { ChangeLog } from '../events/change-log.js';
import { bitsText } from '../events/logged-change.js';
import type { Guarded } from '../access/catalogue.policy.js';
import { directoryNotFound } from '../access/directory-access.js';
import { readChain } from '../namespace/directory-chain.repository.js';
import { findFile } from '../namespace/files.repository.js';
import {
  baseName,
  MAX_DEPTH,
  MAX_PATH_BYTES,
  newNameFault,
  parentPath,
  pathFault,
} from '../path/catalogue-path.js';
import { isInSubtree } from '../path/label.js';
import {
  extentOf,
  fieldsOnBoth,
  findDirectory,
  holdBytes,
  lockForMove,
  relocate,
} from './move.repository.js';

/** Moves directories with everything in them; for administrators. */
@Injectable()
export class MoveService {
  constructor(
    private readonly database: Database,
    private readonly log: EventLog,
  ) {}

  /**
   * Gives a directory another path; its files, metadata and rights come along, totals stay exact, and all other
   * writers wait meanwhile (about 35 µs per directory). Answers the number of directories. 400 for a path that
   * cannot be, 404 when the directory or the new parent does not exist, 409 when the place is taken or a field is
   * set both in the subtree and above its new place, and where bytes at storage elements lie by paths that would change.
   */
  async move(from: string, to: string): Promise<number> {
    for (const [field, path] of Object.entries({ from, to })) {
      const fault = path === '/' ? 'is the root directory' : pathFault(path);
      if (fault !== undefined) throw Problem.invalidField(field, fault);
    }
    const fault = newNameFault(baseName(to));
    if (fault !== undefined) throw Problem.invalidField('to', fault);
    return this.database.transaction(async (transaction) => {
      await lockForMove(transaction);
      return this.moveLocked(transaction, from, to);
    });
  }

  private async moveLocked(transaction: Transaction, from: string, to: string): Promise<number> {
    const directory = await findDirectory(transaction, from);
    if (!directory) throw directoryNotFound(from);
    if (from === to) return 0;
    const parent = await findDirectory(transaction, parentPath(to));
    if (!parent) throw directoryNotFound(parentPath(to));
    if (isInSubtree(parent.label, directory.label)) {
      throw Problem.invalidField('to', 'lies inside the directory that is moved');
    }
    if ((await findDirectory(transaction, to)) ?? (await findFile(transaction, to))) {
      throw new Problem('catalogue.exists', `There is something at ${to} already`);
    }
    if (await holdBytes(transaction, { directory, to })) {
      const detail = `Files lie at storage elements by their paths, in ${from} or where it would come`;
      throw new Problem('catalogue.exists', detail);
    }
    const { depth, bytes } = await extentOf(transaction, directory);
    const levels = (path: string): number => path.split('/').length - 1;
    if (depth - levels(from) + levels(to) > MAX_DEPTH) {
      throw Problem.invalidField('to', `makes the tree deeper than ${MAX_DEPTH} levels`);
    }
    if (bytes - Buffer.byteLength(from) + Buffer.byteLength(to) > MAX_PATH_BYTES) {
      throw Problem.invalidField('to', `makes paths longer than ${MAX_PATH_BYTES} bytes`);
    }
    const above = await readChain(transaction, parent.path);
    const twice = await fieldsOnBoth(
      transaction,
      directory,
      above.map(({ id }) => id),
    );
    if (twice.length > 0) {
      const detail = `Set both in ${from} and above ${to}: ${twice.join(', ')}`;
      throw new Problem('catalogue.metadata-conflict', detail);
    }
    const moved = await relocate(transaction, { directory, parent, to });
    const left = await readChain(transaction, parentPath(from));
    const events = new ChangeLog();
    events.directory('directory', 'moved', {
      place: { path: to, bits: bitsText(bitsOn(above), directory) },
      before: { path: from, bits: bitsText(bitsOn(left), directory) },
    });
    await events.write(transaction, this.log);
    return moved;
  }
}

/** The bits of directories one below the other. */
function bitsOn(chain: readonly Guarded[]): string {
  return chain.reduce(bitsText, '');
}
