import { Injectable } from '@nestjs/common';
import { runForAll } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import type { Guarded } from '../access/catalogue.policy.js';
import { readDirectories, type DirectoryRow } from '../namespace/directory-chain.repository.js';
import { pathChain } from '../path/catalogue-path.js';

/** All who watch look at the same directories at the same moment; for so long one look does for all of them. */
const FRESH_MS = 100;

type Rows = Promise<ReadonlyMap<string, DirectoryRow>>;

/** The bits that directories have at present, by path; undefined for one that is not there. */
export type PresentBits = (directory: string) => Guarded | undefined;

/** What stands now on the ways to directories that events are about. */
@Injectable()
export class PresentRights {
  private known = new Map<string, Rows>();
  private readAt = -Infinity;
  /** Events up to this one had been read before it was looked. */
  private position = 0;

  constructor(private readonly database: Database) {}

  /** The bits of these directories and of all above them, not older than the event of the position, which has been read. */
  async of(directories: Iterable<string>, position: number): Promise<PresentBits> {
    const now = performance.now();
    if (now - this.readAt > FRESH_MS || position > this.position) {
      this.known = new Map();
      this.readAt = now;
      this.position = Math.max(this.position, position);
    }
    const { known } = this;
    const paths = [...new Set([...directories].flatMap(pathChain))];
    const missing = paths.filter((path) => !known.has(path));
    if (missing.length > 0) {
      const rows = runForAll(() => readDirectories(this.database, missing));
      for (const path of missing) known.set(path, rows);
    }
    const found = new Map<string, Guarded | undefined>();
    const reads = new Set(paths.map((path) => known.get(path) as Rows));
    for (const rows of await Promise.all(reads)) {
      for (const [path, row] of rows) found.set(path, row);
    }
    return (directory) => found.get(directory);
  }
}
