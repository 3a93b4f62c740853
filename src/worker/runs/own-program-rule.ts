import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isOwnProgram, MINOR, ONLY_OWN_PROGRAMS, RunFault } from '#src/jobs/run/index.js';
import type { LocalRun } from './local-run.js';

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

/** A directory has none. */
async function hashOf(path: string): Promise<string> {
  const content = await readFile(path).catch(() => undefined);
  return content === undefined ? '' : createHash('sha256').update(content).digest('hex');
}
