import { createHash, randomUUID } from 'node:crypto';
import { rmSync, rmdirSync } from 'node:fs';
import { chmod, lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { everybodyMayReach } from './reach.js';
import { runsBelow } from './run-directory.js';

/** Where this GRID_HOME keeps its runs, and the id under which it holds jobs. */
export interface RunRoot {
  path: string;
  executorId: string;
}

/**
 * Opens the directory of runs: `GRID_HOME/jobs`, or, when the accounts of jobs cannot pass through to it (a home
 * below /root), one of the system's temporary directories. The id stays the same over restarts: runs belong to the
 * home that made them.
 */
export async function openRunRoot(homePath: string, hasAccounts: boolean): Promise<RunRoot> {
  const home = join(homePath, 'jobs');
  await mkdir(home, { recursive: true, mode: 0o711 });
  if (hasAccounts) await chmod(home, 0o711);
  const executorId = `local:${await stableId(join(home, 'executor-id'))}`;
  const runs = join(home, 'runs');
  if (!hasAccounts || (await everybodyMayReach(await realpath(home)))) {
    await mkdir(runs, { recursive: true, mode: 0o711 });
    await chmod(runs, hasAccounts ? 0o711 : 0o700);
    return { path: await realpath(runs), executorId };
  }
  return { path: await elsewhere(home), executorId };
}

/** The file with what a look for remains of jobs has found. */
export function listOfLeft(root: RunRoot): string {
  return join(root.path, 'left');
}

/**
 * Removes the directory of runs when none is in it: one in a temporary directory would stay for good. A run that begins this moment needs
 * the rest of it.
 */
export function closeRunRoot(root: RunRoot): void {
  try {
    if (runsBelow(root.path).length > 0) return;
    rmSync(join(root.path, 'etc'), { recursive: true, force: true });
    rmSync(listOfLeft(root), { force: true });
    rmdirSync(root.path);
  } catch {
    // programs run on, or it is gone
  }
}

async function stableId(path: string): Promise<string> {
  await writeFile(path, `${randomUUID()}\n`, { flag: 'wx', mode: 0o644 }).catch(unlessThere);
  return (await readFile(path, 'utf8')).trim();
}

async function elsewhere(home: string): Promise<string> {
  const name = `gridgate-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`;
  for (const parent of [tmpdir(), '/var/tmp', '/tmp']) {
    const path = join(parent, name);
    if (!(await everybodyMayReach(parent).catch(() => false))) continue;
    await mkdir(path, { mode: 0o711 }).catch(unlessThere);
    const info = await lstat(path);
    // Anybody may make names in a temporary directory: only a directory of our own is used.
    if (!info.isDirectory() || info.uid !== process.getuid?.()) continue;
    await chmod(path, 0o711);
    return path;
  }
  throw new Error(
    `GRID_HOME: the accounts of jobs cannot reach ${dirname(home)}, nor a temporary directory`,
  );
}

/** Throws the error, unless it says that the name is taken. */
function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}
