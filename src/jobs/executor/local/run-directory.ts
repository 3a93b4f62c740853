import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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

/** Files of a directory that is removed at once. */
const SMALL = 200;
/** End of the name of a directory that is being removed. */
export const ASIDE = '.gone';
const REMOVE = 'rm -rf -- "$1" || { chmod -R u+rwx -- "$1"; rm -rf -- "$1"; }';
const ABANDONED = 'abandoned end\n';

/**
 * The directory of one run: below it `work`, the payload's own directory, and beside that the files in which
 * wrapper and service tell each other what has happened (see WRAPPER_SCRIPT). As root only `work` belongs to
 * the account of the job. Calls are synchronous: they are short, local, and a third of the CPU of promises,
 * which at a hundred short jobs a second is what limits the rate.
 */
export class RunDirectory {
  readonly work: string;

  constructor(readonly path: string) {
    this.work = join(path, 'work');
  }

  /** Makes the directory anew. Throws EEXIST when the run has one already. */
  create(owner: FileOwner | undefined): void {
    mkdirSync(this.path, { mode: 0o711 });
    chmodSync(this.path, owner ? 0o711 : 0o700); // mkdir obeys the umask
    mkdirSync(this.work, { mode: 0o700 });
  }

  /** Makes the files of both outputs where the input has none of that name, and hands over the directory. */
  handOver(owner: FileOwner | undefined, outputs: readonly string[]): void {
    const { O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
    for (const name of new Set(outputs)) {
      const file = openSync(join(this.work, name), O_CREAT | O_WRONLY | O_NOFOLLOW, 0o644);
      if (owner) fchownSync(file, owner.uid, owner.gid);
      closeSync(file);
    }
    if (owner) chownSync(this.work, owner.uid, owner.gid);
  }

  exists(): boolean {
    return existsSync(this.path);
  }

  /** Decides that the run never starts. False when the wrapper was first. Throws when there is no directory. */
  abandon(): boolean {
    try {
      writeFileSync(join(this.path, 'started'), ABANDONED, { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Who runs, or has run, here. */
  start(): Start {
    const text = this.read('started');
    if (text === undefined) return 'none';
    if (text === ABANDONED) return 'abandoned';
    const match = /^(\d+) (\d+) end\n$/.exec(text);
    if (!match) return 'being written';
    return { pid: Number(match[1]), startTicks: match[2] as string };
  }

  /** How the payload ended; undefined while it has not, or when the wrapper did not live to see it. */
  exit(): ExitRecord | undefined {
    const match = /^(\d+) end\n$/.exec(this.read('exit') ?? '');
    if (!match) return undefined;
    const { mtime } = statSync(join(this.path, 'exit'));
    const cpuSeconds = cpuSecondsOf(this.read('usage') ?? '');
    return { code: Number(match[1]), cpuSeconds, endedAt: mtime };
  }

  /** Notes why the service ends the payload, before it does; the first reason stays. */
  condemn(reason: string): void {
    try {
      writeFileSync(join(this.path, 'verdict'), reason, { flag: 'wx' });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST' && code !== 'ENOENT') throw error;
    }
  }

  /** The reason noted by `condemn`. */
  verdict(): string | undefined {
    return this.read('verdict');
  }

  /** The last bytes of a file of the payload; '' when it is not a plain file. Never follows a link. */
  tail(name: string, bytes: number): string {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    let file: number;
    try {
      file = openSync(join(this.work, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch {
      return '';
    }
    try {
      const info = fstatSync(file);
      if (!info.isFile()) return '';
      const position = Math.max(0, info.size - bytes);
      const buffer = Buffer.alloc(Math.min(bytes, info.size));
      const count = readSync(file, buffer, 0, buffer.length, position);
      const text = buffer.subarray(0, count).toString('utf8').replaceAll('\0', '\ufffd');
      return position === 0 ? text : text.replace(/^\ufffd+/, '');
    } finally {
      closeSync(file);
    }
  }

  /**
   * Removes everything; not there is fine. Links are removed, never followed. What a program may have made large,
   * deep or unreadable is put aside at once and removed by a process of its own, which neither keeps the service busy
   * nor can fail it.
   */
  remove(): void {
    if (this.isSmall()) {
      rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
      return;
    }
    const aside = this.path.endsWith(ASIDE) ? this.path : `${this.path}${ASIDE}`;
    try {
      if (aside !== this.path) renameSync(this.path, aside);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    const remover = spawn('/bin/sh', ['-c', REMOVE, 'gridgate-remove', aside], {
      stdio: 'ignore',
      detached: true,
    });
    remover.on('error', () => undefined); // found again at the next start
    remover.unref();
  }

  private isSmall(): boolean {
    try {
      const entries = readdirSync(this.work, { withFileTypes: true });
      return entries.length <= SMALL && !entries.some((entry) => entry.isDirectory());
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    }
  }

  private read(name: string): string | undefined {
    try {
      return readFileSync(join(this.path, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}
