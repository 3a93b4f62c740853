import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  opendirSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';

/** What stands below some directories and files. */
export interface DiskUse {
  bytes: number;
  /** Files and directories below the directories. */
  entries: number;
  /** A directory that cannot be looked into, by its name: nobody can say what is in it. */
  closed?: string;
}

/** Where everybody may write on a usual machine, beside `/dev/shm`. */
const EVERYBODYS = ['/tmp', '/var/tmp'];
const SHM = '/dev/shm';

const BLOCK_BYTES = 512;
/** Entries that are looked at between two rests. */
const STEP = 500;
/** Something is there and cannot be looked at. No file has such a name. */
const CLOSED = Symbol('closed');

/**
 * Adds up what is below `directories`, and `files` themselves; rests (yields) again and again. Follows no link, crosses no
 * mount, and stops when there are more than `maxEntries`: then it says so by the count, and a job with a million files
 * costs no more than one with `maxEntries`.
 */
export function* measureDisk(
  directories: readonly string[],
  files: readonly string[],
  maxEntries: number,
): Generator<undefined, DiskUse> {
  const use: DiskUse = { bytes: 0, entries: 0 };
  for (const path of files) use.bytes += bytesOf(infoOf(path));
  const open = [...directories];
  const device = deviceOf(directories[0] ?? '');
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const name of entriesOf(path, device)) {
      const found = name === CLOSED ? path : join(path, name);
      const info = name === CLOSED ? CLOSED : infoOf(found);
      if (info === CLOSED) {
        use.closed = found;
        return use;
      }
      use.entries += 1;
      if (use.entries > maxEntries) return use;
      use.bytes += bytesOf(info);
      if (info?.isDirectory() === true) open.push(found);
      if (use.entries % STEP === 0) yield undefined;
    }
  }
  return use;
}

/**
 * Adds up what an account has where everybody may write: in memory (`/dev/shm`) and on disk. Of others' directories
 * only their own entry is looked at.
 */
export function* measureOwned(
  uid: number,
  maxEntries: number,
): Generator<undefined, { diskBytes: number; memoryBytes: number; entries: number }> {
  const use = { diskBytes: 0, memoryBytes: 0, entries: 0 };
  for (const top of [SHM, ...EVERYBODYS]) {
    let looks = 0;
    for (const name of entriesOf(top, deviceOf(top))) {
      looks += 1;
      if (looks % STEP === 0) yield undefined;
      if (name === CLOSED) continue;
      const path = join(top, name);
      const info = infoOf(path);
      if (typeof info !== 'object' || info.uid !== uid) continue;
      const below = info.isDirectory() ? yield* measureDisk([path], [], maxEntries) : undefined;
      use.entries += 1 + (below?.entries ?? 0);
      use[top === SHM ? 'memoryBytes' : 'diskBytes'] += bytesOf(info) + (below?.bytes ?? 0);
      if (use.entries > maxEntries) return use;
    }
  }
  return use;
}

/** The names in a directory; CLOSED for one that is there and cannot be looked into. */
function* entriesOf(
  path: string,
  device: number | undefined,
): Generator<string | typeof CLOSED, undefined> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (isClosed(error)) yield CLOSED;
    return; // gone or exchanged meanwhile
  }
  try {
    if (fstatSync(file).dev !== device) return;
    const directory = opendirSync(`/proc/self/fd/${file}`, { bufferSize: 128 });
    try {
      for (let entry = directory.readSync(); entry; entry = directory.readSync()) yield entry.name;
    } finally {
      directory.closeSync();
    }
  } finally {
    closeSync(file);
  }
}

function infoOf(path: string): Stats | typeof CLOSED | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    return isClosed(error) ? CLOSED : undefined;
  }
}

function isClosed(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return ['EACCES', 'EPERM', 'ENAMETOOLONG'].includes(code);
}

function bytesOf(info: ReturnType<typeof infoOf>): number {
  return typeof info === 'object' ? info.blocks * BLOCK_BYTES : 0;
}

function deviceOf(path: string): number | undefined {
  const info = infoOf(path);
  return typeof info === 'object' ? info.dev : undefined;
}
