import { closeSync, constants, openSync, readSync } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  executableOf,
  HEAD_BYTES,
  MINOR,
  RunFault,
  scriptStart,
  shownFirstLine,
} from '#src/jobs/run/index.js';
import type { Isolation } from '../isolation/isolation.js';
import type { LocalRun } from './local-run.js';

/**
 * Throws RunFault `Application not found` for a script whose interpreter the job certainly cannot see or execute: Linux
 * would not start it, and the shell would say 127 like many a program. Nothing in the directory is the job's yet.
 */
export async function requireInterpreter(
  run: LocalRun,
  isolation: Pick<Isolation, 'placesOf' | 'shows'>,
): Promise<void> {
  const { program, order, plan, directory } = run;
  const head = headOf(resolve(directory.work, program));
  const start = scriptStart(head);
  if (start === undefined) return;
  const { work } = isolation.placesOf(directory.path);
  const mayStart = async (name: string): Promise<boolean> => {
    const path = resolve(work, name);
    if (path.startsWith(`${work}/`))
      return makeExecutable(join(directory.work, path.slice(work.length)));
    return (await isExecutable(path)) && isolation.shows(path);
  };
  const path = plan.environment['PATH'] ?? run.path;
  const { interpreter, name } = start;
  if (
    (await mayStart(interpreter)) &&
    (name === undefined || (await isOnPath(name, path, mayStart)))
  ) {
    return;
  }
  const app = `The interpreter of ${executableOf(order).slice(0, 200)} was not found: ${shownFirstLine(head)}`;
  throw new RunFault(MINOR.applicationNotFound, app);
}

async function isOnPath(
  name: string,
  path: string,
  mayStart: (name: string) => Promise<boolean>,
): Promise<boolean> {
  if (name.includes('/')) return mayStart(name);
  for (const directory of path.split(':')) if (await mayStart(join(directory, name))) return true;
  return false;
}

/** The first bytes of a file; none of one that cannot be read. */
function headOf(path: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return head.subarray(0, readSync(file, head));
    } finally {
      closeSync(file);
    }
  } catch {
    return head.subarray(0, 0);
  }
}

/** False only for what nobody could execute: accounts may have more rights than this service knows of. */
async function isExecutable(path: string): Promise<boolean> {
  try {
    const info = await stat(path);
    return info.isFile() && (info.mode & 0o111) !== 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** An interpreter that was uploaded with the script, like that itself; false when there is none. */
async function makeExecutable(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    await chmod(path, 0o755);
    return true;
  } catch {
    return false;
  }
}
