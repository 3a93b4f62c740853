import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  rmdirSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PAGE = Buffer.alloc(4096, 1);
const MANY = Buffer.alloc(1024 * 1024, 1);

/** A file system in memory that a test fills. To mount it takes root, and a machine that lets root mount. */
export class SmallDisk {
  private file: number | undefined;

  private constructor(readonly path: string) {}

  /** Mounts one of that size, bytes, on a directory that is made when it is not there. */
  static mount(path: string, bytes: number): SmallDisk {
    if (!existsSync(path)) mkdirSync(path);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=711`, 'tmpfs', path]);
    return new SmallDisk(path);
  }

  /** Whether this process may mount anything. */
  static isPossible(): boolean {
    if (process.getuid?.() !== 0) return false;
    const path = mkdtempSync(join(tmpdir(), 'grid-disk-'));
    try {
      SmallDisk.mount(path, PAGE.length).unmount();
      return true;
    } catch {
      return false;
    } finally {
      rmdirSync(path);
    }
  }

  /** Fills it but for so many pages of 4 KiB; again, when others have given room back meanwhile. */
  fill(freePages = 0): void {
    const file = (this.file ??= openSync(join(this.path, 'full'), 'w', 0o600));
    let written = fstatSync(file).size;
    for (const piece of [MANY, PAGE]) {
      for (let more = 1; more > 0; written += more) more = append(file, piece, written);
    }
    ftruncateSync(file, Math.max(0, written - freePages * PAGE.length));
  }

  /** Gives the room back. */
  empty(): void {
    if (this.file === undefined) return;
    closeSync(this.file);
    this.file = undefined;
    rmSync(join(this.path, 'full'));
  }

  unmount(): void {
    this.empty();
    // Lazily: a process of a job that is just ending may stand in it.
    execFileSync('umount', ['--lazy', this.path]);
  }
}

/** Bytes that were written; 0 when there is no room. */
function append(file: number, piece: Buffer, at: number): number {
  try {
    return writeSync(file, piece, 0, piece.length, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return 0;
  }
}
