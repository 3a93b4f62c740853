import { createHash } from 'node:crypto';
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  executableOf,
  HEAD_BYTES,
  isOwnProgram,
  MINOR,
  ONLY_OWN_PROGRAMS,
  RunFault,
  type RunOrder,
  scriptStart,
  shownFirstLine,
  uploadedProgram,
} from '#src/jobs/run/index.js';
import type { Isolation } from '../isolation/isolation.js';
import type { LocalRun } from './local-run.js';
import { everybodyMayExecute } from './reach.js';
import { beginOf } from '../watch/process-table.js';

/**
 * The program of a job: an uploaded file, an absolute path, or a name on the site's path. Throws RunFault
 * `Application not found` for what the job could not see or execute.
 */
export async function findProgram(
  order: RunOrder,
  site: { path: string; isolation: Isolation },
): Promise<string> {
  const uploaded = uploadedProgram(order);
  if (uploaded !== undefined) return `./${uploaded}`;
  const name = executableOf(order);
  const found = await locateProgram(name, site);
  if (found !== undefined) return found;
  throw new RunFault(MINOR.applicationNotFound, `${name.slice(0, 200)} was not found`);
}

/** Absolute path of a program that was not uploaded; undefined for what the job could not see or execute. */
export async function locateProgram(
  name: string,
  { path, isolation }: { path: string; isolation: Pick<Isolation, 'level' | 'shows'> },
): Promise<string | undefined> {
  const candidates = name.startsWith('/')
    ? [name]
    : name.includes('/')
      ? []
      : path.split(':').map((directory) => join(directory, name));
  for (const candidate of candidates) {
    const isOpen = isolation.level === 'none' || (await everybodyMayExecute(candidate));
    if (isOpen && isolation.shows(candidate)) return candidate;
  }
  return undefined;
}

/**
 * Throws RunFault `Application not found` for a script whose interpreter the job certainly cannot see or execute: Linux
 * would not start it, and the shell would say 127 like many a program. Nothing in the directory is the job's yet.
 */
export async function requireInterpreter(
  run: LocalRun,
  isolation: Pick<Isolation, 'placesOf' | 'shows'>,
): Promise<void> {
  const { program, order, plan, directory } = run;
  const head = beginOf(resolve(directory.work, program), HEAD_BYTES);
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
  const isFound = await mayStart(interpreter);
  if (isFound && (name === undefined || (await isOnPath(name, path, mayStart)))) return;
  const app = `The interpreter of ${executableOf(order).slice(0, 200)} was not found: ${shownFirstLine(head)}`;
  throw new RunFault(MINOR.applicationNotFound, app);
}

/**
 * Throws RunFault for a run that `GRID_LOCAL_PROGRAMS` does not name. Submits are refused already; this is for jobs that
 * were submitted when jobs could be isolated here.
 */
export async function refuseForeignProgram(run: LocalRun, known: readonly string[]): Promise<void> {
  if (known.length === 0) return;
  const { work } = run.directory;
  const names = await readdir(work, { recursive: true });
  const files = await Promise.all(
    names.map(async (name) => ({ name, hash: await hashOf(join(work, name)) })),
  );
  if (isOwnProgram(run.order.manifest, files, known)) return;
  throw new RunFault(MINOR.initialization, ONLY_OWN_PROGRAMS);
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

/** A directory has none. */
async function hashOf(path: string): Promise<string> {
  const content = await readFile(path).catch(() => undefined);
  return content === undefined ? '' : createHash('sha256').update(content).digest('hex');
}
