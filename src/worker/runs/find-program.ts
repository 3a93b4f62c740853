import { join } from 'node:path';
import {
  executableOf,
  MINOR,
  RunFault,
  type RunOrder,
  uploadedProgram,
} from '#src/jobs/run/index.js';
import type { Isolation } from '../isolation/isolation.js';
import { everybodyMayExecute } from './reach.js';

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
