import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import { readFirstEntries, type FirstEntries } from './first-entries.repository.js';

/** What listings begin with, many requests with one statement. */
@Injectable()
export class FirstEntriesReader {
  private readonly read: (path: string) => Promise<FirstEntries | undefined>;

  constructor(database: Database) {
    this.read = database.batchedReads((paths) => readFirstEntries(database, paths));
  }

  /** The first entries of the directory; of one that does not exist, the way to it. */
  async of(path: string): Promise<FirstEntries> {
    const found = await this.read(path);
    if (!found) throw new Error('no answer for the directory');
    return found;
  }
}
