import { Injectable } from '@nestjs/common';
import { Callers, Database, type JoinedReads } from '#src/platform/index.js';
import { parentPath, pathChain } from '../path/catalogue-path.js';
import { readDirectories, type DirectoryRow } from './directory-chain.repository.js';
import { findFiles, type FileRow } from './files.repository.js';

/** Files and the directories on the way to them by path, many requests with one statement each (decision 0421). */
@Injectable()
export class FilePointReads {
  private readonly files: JoinedReads<string, Readonly<FileRow>>;
  private readonly chains: JoinedReads<string, DirectoryRow[]>;

  constructor(callers: Callers, database: Database) {
    this.files = callers.joined((paths) => findFiles(database, paths));
    this.chains = callers.joined(async (paths) => {
      const known = await readDirectories(database, paths);
      return new Map(paths.map((path) => [path, chainIn(known, path)]));
    });
  }

  /** The file of this path, without its long columns. */
  file(path: string): Promise<Readonly<FileRow> | undefined> {
    return this.files.get(path);
  }

  /** The directories that exist on the way to the file, the root first. */
  async chainTo(path: string): Promise<readonly DirectoryRow[]> {
    return (await this.chains.get(parentPath(path))) ?? [];
  }
}

function chainIn(known: ReadonlyMap<string, DirectoryRow>, path: string): DirectoryRow[] {
  return pathChain(path).flatMap((above) => known.get(above) ?? []);
}
