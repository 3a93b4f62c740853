import { randomBytes } from 'node:crypto';
import { readFileSync, unlinkSync } from 'node:fs';
import { link, open, rename, rm, stat, utimes, type FileHandle } from 'node:fs/promises';
import { sleep } from '#src/kernel/index.js';
import { isSameProcessRunning, ownIdentity, type ProcessIdentity } from './process-identity.js';

const HEARTBEAT_MS = 2_000;
/** A lock from another pid namespace or machine is judged by its heartbeat: this long without one is dead. */
const FOREIGN_STALE_MS = 8_000;
const MAX_ATTEMPTS = 20;

interface LockContent extends ProcessIdentity {
  nonce: string;
  since: string;
  /** Where its holder has put it; a lock of an earlier version does not say. */
  path?: string;
  /** Device and inode of the file itself. */
  file?: string;
}

/** A lock as it lies there. */
interface FoundLock extends LockContent {
  /** The file is a copy of its holder's lock: neither the file that it has made nor at the place where it made it. */
  isCopy: boolean;
}

/** Another running process holds the lock; `pid` is its process id in `scope`. */
export class LockHeldError extends Error {
  constructor(
    readonly path: string,
    readonly pid: number,
    readonly since: string,
    /** The holder is a process of this machine and container, so that its pid means something here. */
    readonly isHere: boolean,
  ) {
    super(`${path} is held by the running process ${pid} (since ${since})`);
    this.name = 'LockHeldError';
  }
}

/** An exclusive lock of this process. */
export interface ProcessLock {
  readonly path: string;
  /** Gives the lock back; safe to call again. */
  release(): Promise<void>;
}

/**
 * Takes an exclusive lock that is a file with the holder's pid and start time. The lock of a process that is
 * gone (crash, reboot, pid given to another process) is taken over. A holder in another container or on
 * another machine cannot be asked for, so it renews the file every 2 s, and 8 s without that is stale. A lock that
 * was copied along with its directory (a restored backup) says nothing about the copy. `path` is absolute and real.
 * Throws LockHeldError when a running process holds it, and the file system's error when it cannot be written.
 */
export async function acquireProcessLock(path: string): Promise<ProcessLock> {
  const nonce = randomBytes(12).toString('hex');
  const content: LockContent = { ...ownIdentity(), nonce, since: new Date().toISOString(), path };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    if ((await place(path, content)) && (await readLock(path))?.nonce === nonce) {
      return hold(path, nonce);
    }
    const holder = await readLock(path);
    if (holder === undefined) continue;
    if (await isHeld(path, holder))
      throw new LockHeldError(path, holder.pid, holder.since, holder.scope === content.scope);
    await removeStale(path, holder.nonce);
  }
  throw new Error(
    `${path}: the lock could not be taken: other processes keep taking and losing it`,
  );
}

/** The pid of the process that holds the lock now, or undefined. Takes nothing. */
export async function processLockHolder(path: string): Promise<number | undefined> {
  const holder = await readLock(path);
  return holder !== undefined && (await isHeld(path, holder)) ? holder.pid : undefined;
}

/** Link makes the complete file appear at once, or not at all when there is one already. */
async function place(path: string, content: LockContent): Promise<boolean> {
  const draft = `${path}.${content.nonce}`;
  const handle = await open(draft, 'wx', 0o644);
  try {
    await handle.writeFile(JSON.stringify({ ...content, file: await fileIdentity(handle) }) + '\n');
  } finally {
    await handle.close();
  }
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function fileIdentity(handle: FileHandle): Promise<string> {
  const { dev, ino } = await handle.stat({ bigint: true });
  return `${dev}:${ino}`;
}

async function readLock(path: string): Promise<FoundLock | undefined> {
  const found = await readWhole(path);
  if (found === undefined) return undefined;
  const { text, file } = found;
  try {
    const value = JSON.parse(text) as LockContent;
    if (typeof value.pid === 'number' && typeof value.nonce === 'string') {
      const isCopy = value.file !== undefined && value.file !== file && value.path !== path;
      return { ...value, isCopy };
    }
  } catch {
    // a file cut off by a power failure, or somebody else's: nobody holds it
  }
  const nobody = { pid: 0, startTicks: null, scope: 'unreadable', since: 'unknown' };
  return { ...nobody, nonce: text, isCopy: false };
}

async function readWhole(path: string): Promise<{ text: string; file: string } | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return { text: await handle.readFile('utf8'), file: await fileIdentity(handle) };
  } finally {
    await handle.close();
  }
}

async function isHeld(path: string, holder: FoundLock): Promise<boolean> {
  if (holder.scope === 'unreadable') return false;
  if (holder.scope === ownIdentity().scope) {
    return !holder.isCopy && isSameProcessRunning(holder);
  }
  const before = await renewedAt(path);
  if (before === undefined) return false;
  // Compares two readings of the file's own time, never our clock with another machine's.
  for (let waited = 0; waited < FOREIGN_STALE_MS; waited += 250) {
    await sleep(250);
    const now = await renewedAt(path);
    if (now === undefined) return false;
    if (now !== before) return true;
  }
  return false;
}

async function renewedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return undefined;
  }
}

/** Moves the file away first, so that a lock which another process has just taken is noticed and put back. */
async function removeStale(path: string, staleNonce: string): Promise<void> {
  const aside = `${path}.stale.${randomBytes(6).toString('hex')}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await readLock(aside))?.nonce !== staleNonce) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

function hold(path: string, nonce: string): ProcessLock {
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  heartbeat.unref();
  const releaseNow = (): void => {
    clearInterval(heartbeat);
    process.off('exit', releaseNow);
    try {
      const content = JSON.parse(readFileSync(path, 'utf8')) as LockContent;
      if (content.nonce === nonce) unlinkSync(path);
    } catch {
      // gone already, with its directory perhaps
    }
  };
  process.once('exit', releaseNow);
  return {
    path,
    release: () => {
      releaseNow();
      return Promise.resolve();
    },
  };
}
