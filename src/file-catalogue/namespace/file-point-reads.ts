import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import { parentPath, pathChain } from '../path/catalogue-path.js';
import { readDirectories, type DirectoryRow } from './directory-chain.repository.js';
import { findFiles, type FileRow } from './files.repository.js';

/** Files and the directories on the way to them by path, many requests with one statement each. */
@Injectable()
export class FilePointReads {
  /** The file of this path, without its long columns. */
  readonly file: (path: string) => Promise<Readonly<FileRow> | undefined>;
  private readonly chain: (path: string) => Promise<DirectoryRow[] | undefined>;

  constructor(database: Database) {
    this.file = database.batchedReads((paths) => findFiles(database, paths));
    this.chain = database.batchedReads(async (paths: string[]) => {
      const known = await readDirectories(database, paths);
      return new Map(paths.map((path) => [path, chainIn(known, path)]));
    });
  }

  /** The directories that exist on the way to the file, the root first. */
  async chainTo(path: string): Promise<readonly DirectoryRow[]> {
    return (await this.chain(parentPath(path))) ?? [];
  }
}

function chainIn(known: ReadonlyMap<string, DirectoryRow>, path: string): DirectoryRow[] {
  return pathChain(path).flatMap((above) => known.get(above) ?? []);
}
