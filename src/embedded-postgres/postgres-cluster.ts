import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runAs } from './postgres-account.js';
import { EmbeddedPostgresError } from './postgres-error.js';
import { chownTo, type PostgresLayout } from './postgres-layout.js';

/** The superuser of the embedded server. */
export const EMBEDDED_USER = 'gridgate';
const DRAFT_PREFIX = 'initdb-';

/**
 * Written into postgresql.conf by initdb, where an administrator may change them. Small memory on a machine
 * that also runs the service; no JIT (it only costs time on short queries); no replication, so that bulk
 * loads into new tables need not be logged twice. fsync and synchronous_commit stay on.
 */
const SETTINGS: Record<string, string> = {
  shared_buffers: '128MB',
  max_connections: '100',
  jit: 'off',
  work_mem: '16MB',
  maintenance_work_mem: '64MB',
  effective_cache_size: '1GB',
  random_page_cost: '1.1',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  // Neither statements nor values of rows belong in a log file.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

/**
 * Makes the data directory if there is none. It is made under another name and renamed when complete, so a
 * crash at any moment leaves either nothing or a whole one. Throws EmbeddedPostgresError for a directory of
 * another major version.
 */
export async function ensureCluster(
  layout: PostgresLayout,
  log: (line: string) => void,
): Promise<void> {
  await removeDrafts(layout.base);
  const version = await versionOf(layout.data);
  if (version === layout.binaries.major) return;
  if (version !== undefined) {
    throw new EmbeddedPostgresError(
      `The data directory ${layout.data} was made by PostgreSQL ${version}, the installed one is ${layout.binaries.major}: dump it with the earlier Gridgate, or set another GRID_HOME`,
    );
  }
  await moveAside(layout.data, log);
  await initialise(layout);
}

/** Major version of a whole data directory; undefined when there is none or it is not whole. */
export async function versionOf(data: string): Promise<string | undefined> {
  try {
    await stat(join(data, 'global', 'pg_control'));
    return (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim() || undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** A crash in the middle of initdb leaves a draft; its processes may still run for a moment and write. */
async function removeDrafts(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    if (!name.startsWith(DRAFT_PREFIX) && !name.startsWith('probe-')) continue;
    await rm(join(base, name), { recursive: true, force: true, maxRetries: 5 }).catch(
      () => undefined,
    );
  }
}

/** Something that is no data directory stands in the way: it is kept, but not used. */
async function moveAside(data: string, log: (line: string) => void): Promise<void> {
  const aside = `${data}.broken-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  try {
    await rename(data, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  log(`${data} was not a complete data directory; it is now ${aside} and a new one is made`);
}

async function initialise(layout: PostgresLayout): Promise<void> {
  const draft = join(layout.base, DRAFT_PREFIX + randomBytes(6).toString('hex'));
  await mkdir(draft, { mode: 0o700 });
  await chownTo(layout.account, draft);
  const result = await runAs(layout.account, layout.binaries.initdb, [
    '--pgdata',
    draft,
    `--username=${EMBEDDED_USER}`,
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  if (result.code !== 0) {
    await rm(draft, { recursive: true, force: true });
    throw new EmbeddedPostgresError(
      `PostgreSQL's data directory ${layout.data} cannot be made: ${lastLines(result.output)}`,
    );
  }
  await rename(draft, layout.data);
  await syncDirectory(layout.base);
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function lastLines(text: string): string {
  return text.split('\n').slice(-4).join(' | ');
}
