import { open, readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../terminal/command-error.js';

/** Longer than a renewal can take: a lock of this age was left behind. */
const LEFT_BEHIND_MS = 60_000;
const LOOK_EVERY_MS = 25;

/**
 * Runs work while no other process runs work under the same lock file. A lock whose process has ended, or that is
 * older than any renewal, is taken over; should two take it over at the same moment, both renew, and the service
 * gives both the same successor (RFC 9700 §4.14.2, grace of refresh tokens).
 */
export async function whileLocked<T>(path: string, work: () => Promise<T>): Promise<T> {
  while (!(await taken(path))) {
    if (await isLeftBehind(path)) await rm(path, { force: true });
    else await pause(LOOK_EVERY_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function taken(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(`${process.pid} ${hostname()}`);
    } catch (error) {
      await rm(path, { force: true }); // the disk is full: the others would wait for nobody
      throw error;
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    const text = `${path} cannot be written (${code}): the login cannot be renewed`;
    throw new CommandError(text, 1, 'make room there');
  }
}

async function isLeftBehind(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > LEFT_BEHIND_MS) return true;
    const [pid = '', host] = (await readFile(path, 'utf8')).split(' ');
    return host === hostname() && !isRunning(Number(pid));
  } catch {
    return false; // given back meanwhile
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
