import { chown, mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { StartedWorker, type WorkerPlace } from './started-worker.js';
import type { Grid } from './testbed.js';

/** Setting of the jobs that a service runs itself → the option of a worker that means the same. */
const OPTIONS = {
  GRID_LOCAL_SLOTS: '--processors',
  GRID_LOCAL_ISOLATION: '--isolation',
  GRID_LOCAL_BINDS: '--bind',
  GRID_LOCAL_ACCOUNTS: '--accounts',
  GRID_LOCAL_MIN_FREE: '--min-free',
  GRID_JOB_WALL_TIME: '--max-wall-time',
  GRID_JOB_MEMORY: '--max-memory',
  GRID_JOB_PROCESSES: '--max-processes',
  GRID_JOB_MAX_OUTPUT: '--max-output',
  GRID_JOB_DISK: '--max-disk',
  GRID_JOB_FILES: '--max-files',
  GRID_JOB_OPEN_FILES: '--max-open-files',
  GRID_MAX_SANDBOX: '--max-sandbox',
} as const;

/**
 * Makes sites of workers of the local sites and starts a worker of the first one, which keeps apart and limits jobs as the service would
 * with these settings.
 */
export async function workerOf(
  grid: Grid,
  env: Record<string, string>,
  place: WorkerPlace,
): Promise<StartedWorker> {
  await grid.sql(`update registry_site set backend = 'worker' where backend = 'local-process'`);
  const [site] = await grid.sql<{ name: string }>(
    `select name from registry_site where backend = 'worker' order by position limit 1`,
  );
  const options = Object.entries(OPTIONS).flatMap(([setting, option]) =>
    (env[setting]?.split(',') ?? []).flatMap((value) => [option, value]),
  );
  const { GRID_PUBLIC_URL: server = grid.url } = env; // proofs are for this address
  const directory = join(grid.home, 'worker');
  await mkdir(join(directory, 'jobs'), { recursive: true, mode: 0o711 });
  await symlink('worker/jobs', join(grid.home, 'jobs')); // where suites look for runs
  await ownedAs(grid.home, directory);
  return StartedWorker.start(grid, site?.name ?? '', options, {
    ...place,
    ...{ directory, server },
  });
}

/** The directory is whose the home is. */
async function ownedAs(home: string, directory: string): Promise<void> {
  const { uid, gid } = await stat(home);
  for (const path of [directory, join(directory, 'jobs')]) await chown(path, uid, gid);
}
