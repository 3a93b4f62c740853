import { access, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '#src/kernel/index.js';
import { directClient, sqlState, type DatabaseConnectionError } from '#src/database/index.js';
import {
  acquireProcessLock,
  LockHeldError,
  openHome,
  type ProcessLock,
} from '#src/runtime/index.js';
import { EMBEDDED_USER, ensureCluster, versionOf } from './postgres-cluster.js';
import { EmbeddedPostgresError } from './postgres-error.js';
import {
  chooseLayout,
  dataDirectory,
  makeSocketDirectory,
  recordedBase,
  removeSocketDirectory,
  type PostgresLayout,
} from './postgres-layout.js';
import { endOrphans } from './postgres-orphan.js';
import { PostgresAccess, readPassword } from './postgres-password.js';
import { EMBEDDED_PORT, PostgresServer } from './postgres-server.js';
import { postgresProcesses, readPostmasterFile } from './postmaster-file.js';

const DATABASE = 'gridgate';
const SOCKET_CHECK_MS = 1_000;
const FIRST_BACK_OFF_MS = 250;
const MAX_BACK_OFF_MS = 10_000;

/** Where to connect, as whom: `host` is the directory of the unix socket. */
export interface EmbeddedConnection {
  host: string;
  port: number;
  user: string;
  /** Absent only while a server of an earlier version runs, which asks for none. */
  password?: string;
  database: string;
}

/** What to start and whom to tell. */
export interface EmbeddedPostgresOptions {
  /** GRID_HOME; made when missing. */
  home: string;
  /** One line per event worth knowing; nothing by default. */
  log?: (line: string) => void;
  /** Called when PostgreSQL ended by itself; it is being restarted. */
  onExit?: (reason: string) => void;
  /** Called when it takes connections again after onExit. */
  onRestart?: () => void;
}

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** Stays the same over restarts. */
  readonly connection: EmbeddedConnection;
  /** The same as a URL, password included. */
  readonly url: string;
  /** The URL of another database of the same server. */
  urlOf(database: string): string;
  /** A PostgreSQL that a killed server had left running was found; it was stopped and its data taken over. */
  readonly adopted: boolean;
  /** The system account it runs as; jobs must run as another one. Undefined: as this process. */
  readonly account: string | undefined;
  /** Process id of the postmaster; undefined while it is being restarted. */
  readonly pid: number | undefined;
  /** Fast shutdown, awaited: sessions end, the socket and the lock go. Safe to call again. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL of `node_modules` on `$GRID_HOME/postgres`: makes the data directory and the database
 * when missing, recovers from whatever a killed server has left, and restarts it with growing pauses when it
 * ends by itself. It listens on a unix socket in a private directory only, and asks for a password. Throws EmbeddedPostgresError (with
 * what to do) or GridHomeError.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const home = await openHome(options.home);
  const postgresHome = await realpath(home.postgres);
  const locks = [await lockLauncher(postgresHome)];
  const log = options.log ?? (() => undefined);
  let supervisor: Supervisor | undefined;
  try {
    const layout = await chooseLayout(postgresHome);
    // A copy of the home names the same base as the original: it must not end the PostgreSQL that runs there.
    if (layout.base !== postgresHome) locks.push(await lockLauncher(layout.base));
    const adopted = await endOrphansOf(layout, log);
    await ensureCluster(layout, log);
    layout.data = await dataDirectory(layout.base);
    const access = await PostgresAccess.prepare(layout, postgresHome);
    const { password } = access;
    const socketDirectory = await makeSocketDirectory(layout);
    const logPath = join(home.logs, 'postgres.log');
    supervisor = new Supervisor(
      { layout, socketDirectory, password, logPath, log, locks, adopted },
      options,
    );
    await supervisor.start();
    await createDatabase(supervisor.connection, postgresHome);
    await access.close(supervisor.connection);
    return supervisor;
  } catch (error) {
    await supervisor?.stop();
    await release(locks);
    throw error;
  }
}

/**
 * The connection of an embedded PostgreSQL that runs on that GRID_HOME now (started by a server, or left by a
 * killed one), for commands beside it; undefined when none takes connections. Changes nothing.
 */
export async function runningEmbeddedPostgres(options: {
  home: string;
}): Promise<EmbeddedConnection | undefined> {
  const postgresHome = await realpath(join(options.home, 'postgres')).catch(() => undefined);
  if (postgresHome === undefined) return undefined;
  const data = await dataDirectory(await recordedBase(postgresHome));
  const file = readPostmasterFile(data);
  if (!file?.isReady || !postgresProcesses(data).includes(file.pid)) return undefined;
  return connectionAt(file.socketDirectory, await readPassword(postgresHome));
}

/** Whether that GRID_HOME has a whole database, which a start would take as it is. Changes nothing. */
export async function hasEmbeddedPostgres(options: { home: string }): Promise<boolean> {
  const postgresHome = await realpath(join(options.home, 'postgres')).catch(() => undefined);
  if (postgresHome === undefined) return false;
  return (await versionOf(await dataDirectory(await recordedBase(postgresHome)))) !== undefined;
}

function connectionAt(host: string, password: string | undefined): EmbeddedConnection {
  const secret = password === undefined ? {} : { password };
  return { host, port: EMBEDDED_PORT, user: EMBEDDED_USER, ...secret, database: DATABASE };
}

/** One launcher per home, whoever it is: without it a second one would take the first one's for an orphan. */
async function lockLauncher(postgresHome: string): Promise<ProcessLock> {
  try {
    return await acquireProcessLock(join(postgresHome, 'launcher.lock'));
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL in ${postgresHome} is run by another process (pid ${error.pid}): stop it or set another GRID_HOME`,
      { cause: error },
    );
  }
}

async function release(locks: ProcessLock[]): Promise<void> {
  await Promise.all(locks.map((lock) => lock.release()));
}

async function endOrphansOf(layout: PostgresLayout, log: (line: string) => void): Promise<boolean> {
  const earlier = readPostmasterFile(layout.data);
  const adopted = await endOrphans(layout.data, log);
  // In a copy of a home the file speaks of the original's server, which may be running.
  if (earlier?.data === layout.data) {
    await removeSocketDirectory(earlier.socketDirectory, layout.base);
  }
  return adopted;
}

/** CREATE DATABASE knows no IF NOT EXISTS. */
async function createDatabase(connection: EmbeddedConnection, postgresHome: string): Promise<void> {
  const client = directClient({ ...connection, database: 'postgres' }, 'gridgate launcher');
  await client.connect().catch((error: unknown) => {
    if (sqlState((error as DatabaseConnectionError).cause) !== '28P01') throw error;
    throw new EmbeddedPostgresError(
      `The password in ${join(postgresHome, 'password')} is not that of the database beside it: remove the file, and the next start sets a new one`,
      { cause: error },
    );
  });
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

interface SupervisorParts {
  layout: PostgresLayout;
  socketDirectory: string;
  password: string;
  logPath: string;
  log: (line: string) => void;
  locks: ProcessLock[];
  adopted: boolean;
}

/** Keeps one PostgreSQL running until stop(). */
class Supervisor implements EmbeddedPostgres {
  readonly connection: EmbeddedConnection;
  readonly url: string;
  readonly adopted: boolean;
  readonly account: string | undefined;
  #server: PostgresServer | undefined;
  #watching: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;
  readonly #stopping = new AbortController();
  #socketCheck: NodeJS.Timeout | undefined;
  readonly #onProcessExit = (): void => this.#server?.signalStop();

  constructor(
    private readonly parts: SupervisorParts,
    private readonly hooks: Pick<EmbeddedPostgresOptions, 'onExit' | 'onRestart'>,
  ) {
    this.connection = connectionAt(parts.socketDirectory, parts.password);
    this.url = this.urlOf(DATABASE);
    this.adopted = parts.adopted;
    const { kind, name } = parts.layout.account;
    this.account = kind === 'account' ? name : undefined;
  }

  get pid(): number | undefined {
    return this.#server?.pid;
  }

  urlOf(database: string): string {
    const { host, port, user } = this.connection;
    const where = `${encodeURIComponent(host)}:${port}`;
    return `postgres://${user}:${this.parts.password}@${where}/${encodeURIComponent(database)}`;
  }

  async start(): Promise<void> {
    this.#server = await PostgresServer.start(this.parts.layout, this.parts);
    process.once('exit', this.#onProcessExit);
    this.#watching = this.#watch(this.#server);
    this.#socketCheck = setInterval(() => void this.#checkSocket(), SOCKET_CHECK_MS);
    this.#socketCheck.unref();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#stopping.abort(new Error('the embedded PostgreSQL is being stopped'));
    clearInterval(this.#socketCheck);
    await this.#server?.stop();
    await this.#watching;
    // A restart may have been under way when the first look found no server.
    await this.#server?.stop();
    process.off('exit', this.#onProcessExit);
    await removeSocketDirectory(this.connection.host, this.parts.layout.base);
    await release(this.parts.locks);
  }

  async #watch(first: PostgresServer): Promise<void> {
    let server = first;
    while (!this.#stopping.signal.aborted) {
      const reason = await server.ended;
      if (this.#stopping.signal.aborted) return;
      this.parts.log(`PostgreSQL ended (${reason}); restarting it`);
      this.hooks.onExit?.(reason);
      const next = await this.#restart();
      if (next === undefined) return;
      server = next;
      this.parts.log('PostgreSQL runs again');
      this.hooks.onRestart?.();
    }
  }

  async #restart(): Promise<PostgresServer | undefined> {
    let pause = FIRST_BACK_OFF_MS;
    while (!this.#stopping.signal.aborted) {
      try {
        const { signal } = this.#stopping;
        this.#server = await PostgresServer.start(this.parts.layout, { ...this.parts, signal });
        return this.#server;
      } catch (error) {
        if (this.#stopping.signal.aborted) return undefined;
        this.parts.log(`PostgreSQL could not be restarted: ${(error as Error).message}`);
      }
      await sleep(pause, { signal: this.#stopping.signal, unref: true }).catch(() => undefined);
      pause = Math.min(pause * 2, MAX_BACK_OFF_MS);
    }
    return undefined;
  }

  /** Cleaners of temporary directories remove sockets; only a restart makes a new one. */
  async #checkSocket(): Promise<void> {
    const server = this.#server;
    if (server?.pid === undefined || this.#stopping.signal.aborted) return;
    const path = join(this.connection.host, `.s.PGSQL.${EMBEDDED_PORT}`);
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere || server !== this.#server || this.#stopping.signal.aborted) return;
    this.parts.log(`the socket ${path} has been removed; restarting PostgreSQL`);
    await server.stop();
  }
}
