import { constants } from 'node:fs';
import { chmod, chown, lstat, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileOwner } from '../../sandbox/sandbox-archive.js';
import { cpuSecondsOf } from './job-wrapper.js';

/** Who runs, as the wrapper wrote it. */
export interface StartRecord {
  pid: number;
  startTicks: string;
}

/** How it ended, as the wrapper wrote it. */
export interface ExitRecord {
  code: number;
  cpuSeconds: number;
  endedAt: Date;
}

/** What the `started` file says. */
export type Start = StartRecord | 'abandoned' | 'being written' | 'none';

const ABANDONED = 'abandoned end\n';

/**
 * The directory of one run: below it `work`, the payload's own directory, and beside that the files in which
 * wrapper and service tell each other what has happened (see WRAPPER_SCRIPT). As root only `work` belongs to
 * the account of the job.
 */
export class RunDirectory {
  readonly work: string;

  constructor(readonly path: string) {
    this.work = join(path, 'work');
  }

  /** Makes the directory anew. Throws EEXIST when the run has one already. */
  async create(owner: FileOwner | undefined): Promise<void> {
    await mkdir(this.path, { mode: 0o711 });
    await chmod(this.path, owner ? 0o711 : 0o700);
    await mkdir(this.work, { mode: 0o700 });
  }

  /** Makes the files of both outputs where the input has none of that name, and hands over the directory. */
  async createOutputs(owner: FileOwner | undefined, names: readonly string[]): Promise<void> {
    const { O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
    for (const name of new Set(names)) {
      const handle = await open(join(this.work, name), O_CREAT | O_WRONLY | O_NOFOLLOW, 0o644);
      if (owner) await handle.chown(owner.uid, owner.gid);
      await handle.close();
    }
    if (owner) await chown(this.work, owner.uid, owner.gid);
  }

  async exists(): Promise<boolean> {
    return stat(this.path).then(
      () => true,
      () => false,
    );
  }

  /** Decides that the run never starts. False when the wrapper was first. Throws when there is no directory. */
  async abandon(): Promise<boolean> {
    try {
      await writeFile(join(this.path, 'started'), ABANDONED, { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Who runs, or has run, here. */
  async start(): Promise<Start> {
    const text = await this.read('started');
    if (text === undefined) return 'none';
    if (text === ABANDONED) return 'abandoned';
    const match = /^(\d+) (\d+) end\n$/.exec(text);
    if (!match) return 'being written';
    return { pid: Number(match[1]), startTicks: match[2] as string };
  }

  /** How the payload ended; undefined while it has not, or when the wrapper did not live to see it. */
  async exit(): Promise<ExitRecord | undefined> {
    const match = /^(\d+) end\n$/.exec((await this.read('exit')) ?? '');
    if (!match) return undefined;
    const { mtime } = await stat(join(this.path, 'exit'));
    const usage = (await this.read('usage')) ?? '';
    return { code: Number(match[1]), cpuSeconds: cpuSecondsOf(usage), endedAt: mtime };
  }

  /** Notes why the service ends the payload, before it does; the first reason stays. */
  async condemn(reason: string): Promise<void> {
    await writeFile(join(this.path, 'verdict'), reason, { flag: 'wx' }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error;
      },
    );
  }

  /** The reason noted by `condemn`. */
  async verdict(): Promise<string | undefined> {
    return this.read('verdict');
  }

  /** The last bytes of a file of the payload; '' when it is not a plain file. Never follows a link. */
  async tail(name: string, bytes: number): Promise<string> {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const handle = await open(join(this.work, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
      () => undefined,
    );
    if (!handle) return '';
    try {
      const info = await handle.stat();
      if (!info.isFile()) return '';
      const position = Math.max(0, info.size - bytes);
      const buffer = Buffer.alloc(Math.min(bytes, info.size));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      const text = buffer.subarray(0, bytesRead).toString('utf8').replaceAll('\0', '\ufffd');
      return position === 0 ? text : text.replace(/^\ufffd+/, '');
    } finally {
      await handle.close();
    }
  }

  /** Removes everything; not there is fine. Links are removed, never followed. */
  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 }).catch(async (error) => {
      if (!(await lstat(this.path).catch(() => undefined))) return;
      throw error;
    });
  }

  private async read(name: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.path, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}
