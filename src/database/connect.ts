import { QueryRunnerAlreadyReleasedError, type DataSource } from 'typeorm';
import { Problem, sleep } from '#src/kernel/index.js';
import type { Logger } from 'pino';
import { ADVISORY_LOCKS, LOCK_SPACES } from './lock-names.js';
import { DatabaseConnectionError, isDatabaseAway } from './connection-error.js';
import { DatabaseClient, directTarget, pooledTarget } from './database-client.js';
import type { DatabaseConnection } from '#src/config/index.js';

const CONNECT_TIMEOUT_SECONDS = 2;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 3_000;

/** A connection of its own past pool and pooler, for LISTEN and locks that outlive a transaction; not yet connected. */
export function directClient(connection: DatabaseConnection, name: string): DatabaseClient {
  return new DatabaseClient(directTarget(connection), {
    name,
    connectTimeoutSeconds: CONNECT_TIMEOUT_SECONDS,
  });
}

/** A connection of its own by the way that the pool takes; not yet connected. */
export function pooledClient(connection: DatabaseConnection, name: string): DatabaseClient {
  return new DatabaseClient(pooledTarget(connection), {
    name,
    connectTimeoutSeconds: CONNECT_TIMEOUT_SECONDS,
  });
}

/** How a part of the start waits for the database. */
export interface DatabaseWait {
  logger: Logger;
  signal: AbortSignal;
  /** Called whenever the database is not there. */
  onAway: () => void;
}

/**
 * Does a part of the start, again and again while the database is away: the start does not depend on the order in
 * which machines come up, and the database may go once more while it is under way. Errors that waiting cannot cure
 * (password, unknown database) are thrown.
 */
export async function whenDatabaseIsThere<T>(
  work: () => Promise<T>,
  options: DatabaseWait,
): Promise<T> {
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    options.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof Problem && error.code === 'service.unavailable';
      // TypeORM says this when a connection was lost in the middle of a migration and it tries to roll back.
      const isReleased = error instanceof QueryRunnerAlreadyReleasedError;
      if (error instanceof DatabaseConnectionError && error.isFinal) throw error;
      if (!isAway && !isReleased && !isDatabaseAway(error)) throw error;
      options.onAway();
      options.logger.warn({ err: error }, 'the database is not there yet; trying again');
    }
    await sleep(pause, { signal: options.signal });
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** Connects the data source; waits for a database that is not there yet. */
export async function connectDataSource(
  dataSource: DataSource,
  options: DatabaseWait,
): Promise<void> {
  await whenDatabaseIsThere(() => dataSource.initialize(), options);
}

/**
 * Runs the pending migrations; of several instances that start together one does and the others wait
 * (session advisory lock on a connection of its own). Returns the names of those that ran.
 */
export async function migrate(
  dataSource: DataSource,
  connection: DatabaseConnection,
): Promise<string[]> {
  const guard = directClient(connection, 'gridgate migrations');
  await guard.connect();
  try {
    await guard.query('select pg_advisory_lock($1, $2)', [
      LOCK_SPACES.named,
      ADVISORY_LOCKS.migrations,
    ]);
    const done = await dataSource.runMigrations({ transaction: 'each' });
    return done.map((migration) => migration.name);
  } finally {
    await guard.end().catch(() => undefined);
  }
}
