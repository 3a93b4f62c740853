import { createHash, randomUUID } from 'node:crypto';
import { rmdirSync } from 'node:fs';
import { chmod, lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mayReach, type JobAccount } from './job-account.js';

/** Where this GRID_HOME keeps its runs, and the id under which it holds jobs. */
export interface RunRoot {
  path: string;
  executorId: string;
}

/**
 * Opens the directory of runs: `GRID_HOME/jobs`, or, when the account of the jobs cannot pass through to it (a home
 * below /root), one of the system's temporary directories. The id stays the same over restarts: runs belong to the
 * home that made them.
 */
export async function openRunRoot(homePath: string, account: JobAccount): Promise<RunRoot> {
  const home = join(homePath, 'jobs');
  await mkdir(home, { recursive: true, mode: 0o711 });
  if (account.owner) await chmod(home, 0o711);
  const executorId = `local:${await stableId(join(home, 'executor-id'))}`;
  const runs = join(home, 'runs');
  if (!account.owner || (await mayReach(await realpath(home), account))) {
    await mkdir(runs, { recursive: true, mode: 0o711 });
    await chmod(runs, account.owner ? 0o711 : 0o700);
    return { path: await realpath(runs), executorId };
  }
  return { path: await elsewhere(home, account), executorId };
}

/** Removes the directory of runs when nothing is in it: one in a temporary directory would stay for good. */
export function closeRunRoot(root: RunRoot): void {
  try {
    rmdirSync(root.path);
  } catch {
    // programs run on, or it is gone
  }
}

async function stableId(path: string): Promise<string> {
  try {
    await writeFile(path, `${randomUUID()}\n`, { flag: 'wx', mode: 0o644 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return (await readFile(path, 'utf8')).trim();
}

async function elsewhere(home: string, account: JobAccount): Promise<string> {
  const name = `gridgate-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`;
  for (const parent of [tmpdir(), '/var/tmp', '/tmp']) {
    const path = join(parent, name);
    if (!(await mayReach(parent, account).catch(() => false))) continue;
    await mkdir(path, { mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const info = await lstat(path);
    // Anybody may make names in a temporary directory: only a directory of our own is used.
    if (!info.isDirectory() || info.uid !== process.getuid?.()) continue;
    await chmod(path, 0o711);
    return path;
  }
  throw new Error(
    `GRID_HOME: ${account.name}, who runs the jobs, cannot reach ${dirname(home)}, nor a temporary directory`,
  );
}
