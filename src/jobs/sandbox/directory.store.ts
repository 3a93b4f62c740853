import { randomBytes } from 'node:crypto';
import {
  copyFile,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ByteRange } from '#src/http/index.js';
import { Problem } from '#src/kernel/index.js';
import {
  SandboxDamagedError,
  SandboxMissingError,
  type NewArchive,
  type SandboxStore,
} from './sandbox.store.js';

/** Archives as files `ab/abcdef….tar.gz` below one directory, which several instances may share. */
export class DirectorySandboxStore implements SandboxStore {
  private readonly made = new Set<string>();

  constructor(private readonly directory: string) {}

  async put(archive: NewArchive): Promise<void> {
    const target = this.pathOf(archive.hash);
    if (!(await isFile(target, archive.sizeBytes))) await this.write(archive, target);
    await flushDirectory(dirname(target)); // also after another's write, which may not have come so far
  }

  private async write(archive: NewArchive, target: string): Promise<void> {
    await this.makeParent(target);
    if ('content' in archive) {
      const { content } = archive;
      await placeNew(target, (draft) => writeFile(draft, content, { mode: 0o600, flush: true }));
      return;
    }
    const { path } = archive;
    await flush(path);
    await rename(path, target).catch(async (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
      await placeNew(target, async (draft) => {
        await copyFile(path, draft);
        await flush(draft);
      });
    });
  }

  async open(hash: string, wish?: { sizeBytes: number; range?: ByteRange }): Promise<Readable> {
    const handle = await this.openFile(hash);
    try {
      if (wish) SandboxDamagedError.refuseSize((await handle.stat()).size, wish.sizeBytes);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return handle.createReadStream(wish?.range);
  }

  async remove(hash: string): Promise<void> {
    await rm(this.pathOf(hash), { force: true });
  }

  private async openFile(hash: string): Promise<FileHandle> {
    try {
      return await open(this.pathOf(hash));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
      if (await this.isAway()) {
        const detail = 'The sandbox store is away: its directory is empty or not there';
        throw Problem.unavailable(detail, { cause });
      }
      throw new SandboxMissingError(hash, { cause });
    }
  }

  /** Whether there is nothing at all, as where a file system is not mounted. */
  private async isAway(): Promise<boolean> {
    const names = await readdir(this.directory).catch(() => []);
    return names.length === 0;
  }

  private pathOf(hash: string): string {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error('not a sandbox hash');
    return join(this.directory, hash.slice(0, 2), `${hash}.tar.gz`);
  }

  private async makeParent(path: string): Promise<void> {
    const parent = dirname(path);
    if (this.made.has(parent)) return;
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await flushDirectory(dirname(parent));
    this.made.add(parent);
  }
}

/** A file that is there whole or not at all, also when it cannot be written. */
async function placeNew(target: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  try {
    await write(draft);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function isFile(path: string, sizeBytes: number): Promise<boolean> {
  try {
    const info = await stat(path);
    return info.isFile() && info.size === sizeBytes;
  } catch {
    return false;
  }
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Makes the names in a directory outlast a loss of power; a few file systems of the network have no such call (EINVAL). */
async function flushDirectory(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}
