import { join } from 'node:path';
import type { RunOrder } from '../../run/executor.js';
import { executableOf, RunFault, uploadedProgram } from '../../run/run-plan.js';
import { MINOR } from '../../state/job-state.js';
import type { Isolation } from './isolation/isolation.js';
import { everybodyMayExecute } from './reach.js';

/**
 * The program of a job (contract 10): an uploaded file, an absolute path, or a name on the site's path. Throws RunFault
 * `Application not found` for what the job could not see or execute.
 */
export async function findProgram(
  order: RunOrder,
  site: { path: string; isolation: Isolation },
): Promise<string> {
  const uploaded = uploadedProgram(order);
  if (uploaded !== undefined) return `./${uploaded}`;
  const name = executableOf(order);
  const candidates = name.startsWith('/')
    ? [name]
    : name.includes('/')
      ? []
      : site.path.split(':').map((directory) => join(directory, name));
  const { isolation } = site;
  for (const candidate of candidates) {
    const isOpen = isolation.level === 'none' || (await everybodyMayExecute(candidate));
    if (isOpen && isolation.shows(candidate)) return candidate;
  }
  throw new RunFault(MINOR.applicationNotFound, `${name.slice(0, 200)} was not found`);
}
