import pg from 'pg';
import type { Logger } from 'pino';
import { directClient } from './connect.js';
import { DatabaseConnectionError } from './connection-error.js';
import {
  clientOfPool,
  directTarget,
  IDLE_IN_TRANSACTION_MS,
  SESSION_SETTINGS,
} from './database-client.js';
import type { DatabaseConnection } from '#src/config/index.js';

const SESSIONS_IDLE_MS = 30_000;

/**
 * How to work through a pooler that gives a connection to another client after each transaction (PgBouncer,
 * `pool_mode = transaction`): no statement stays prepared (Debian 12 has 1.18, which knows none; named ones came with
 * 1.21), no setting outlives its transaction, and what needs a session goes past the pooler.
 */
export interface PoolerRules {
  /** What follows `begin` in the same message: the settings that a session has without a pooler. */
  settings: string;
  /** Sessions that belong to their client alone. */
  sessions: pg.Pool;
}

/** The rules for a connection with a direct URL; undefined where no pooler stands. Connects to nothing yet. */
export function poolerRules(
  connection: DatabaseConnection,
  limits: { statementTimeoutSeconds: number; connectTimeoutSeconds: number; sessions: number },
): PoolerRules | undefined {
  if (connection.directUrl === undefined) return undefined;
  const { connectTimeoutSeconds, statementTimeoutSeconds } = limits;
  const target = directTarget(connection);
  const options = { name: 'gridgate locks', connectTimeoutSeconds, statementTimeoutSeconds };
  const sessions = new pg.Pool({
    Client: clientOfPool(() => target, options),
    max: limits.sessions,
    idleTimeoutMillis: SESSIONS_IDLE_MS,
    connectionTimeoutMillis: Math.max(connectTimeoutSeconds, statementTimeoutSeconds) * 1000,
  });
  sessions.on('error', () => undefined); // idle ones die with the server; the next one tells
  return { settings: transactionSettings(statementTimeoutSeconds), sessions };
}

function transactionSettings(statementTimeoutSeconds: number): string {
  return Object.entries(wanted(statementTimeoutSeconds))
    .map(([name, value]) => `; set local ${name} = '${value}'`)
    .join('');
}

function wanted(statementTimeoutSeconds: number): Record<string, string> {
  return {
    ...SESSION_SETTINGS,
    statement_timeout: `${statementTimeoutSeconds * 1000}`,
    idle_in_transaction_session_timeout: `${IDLE_IN_TRANSACTION_MS}`,
  };
}

interface Seen {
  pid: number;
  /** The database of one running server, whatever it is called. */
  place: string;
}

const LOOK = `select pg_backend_pid() as pid, (select oid from pg_database where datname = current_database())
  || ' ' || extract(epoch from pg_postmaster_start_time()) as place`;

/**
 * Looks who stands at DATABASE_URL. A pooler tells its clients another process id than that of the server's process.
 * Without a direct URL it is refused: changes of other instances would not be heard, locks not be held. Throws
 * DatabaseConnectionError for that, for a direct URL that leads to a pooler too, and for one that leads elsewhere.
 */
export async function checkPooler(pool: pg.Pool, connection: DatabaseConnection): Promise<void> {
  const client = await pool.connect();
  let pooled: Seen;
  let isPooler: boolean;
  try {
    pooled = await look(client);
    isPooler = pooled.pid !== processOf(client);
  } finally {
    client.release();
  }
  if (connection.directUrl === undefined) {
    if (isPooler) throw refused('DATABASE_URL', POOLER_WITHOUT_DIRECT);
    return;
  }
  const direct = directClient(connection, 'gridgate start');
  await direct.connect();
  try {
    const seen = await look(direct);
    if (seen.pid !== processOf(direct)) throw refused(DIRECT, 'leads to a connection pooler too');
    if (seen.place !== pooled.place) {
      throw refused(DIRECT, 'leads to another database than DATABASE_URL');
    }
  } finally {
    await direct.end().catch(() => undefined);
  }
}

const DIRECT = 'GRID_DATABASE_DIRECT_URL';
const POOLER_WITHOUT_DIRECT =
  'leads to a connection pooler (PgBouncer), through which no change of another instance is heard and no lock is held: set GRID_DATABASE_DIRECT_URL to the PostgreSQL behind it';

function refused(variable: string, reason: string): DatabaseConnectionError {
  return new DatabaseConnectionError(`${variable} ${reason}`, true);
}

async function look(client: pg.ClientBase): Promise<Seen> {
  const { rows } = await client.query<Seen>(LOOK);
  return rows[0] as Seen;
}

/** What the server said at the beginning of the session (BackendKeyData). */
function processOf(client: pg.ClientBase): number {
  return client.processID;
}

/**
 * Single statements run with what the role has of its own; transactions bring their settings along. Says with which
 * statement an administrator makes them equal.
 */
export async function adviseRole(
  pool: pg.Pool,
  { statementTimeoutSeconds, logger }: { statementTimeoutSeconds: number; logger: Logger },
): Promise<void> {
  const names = wanted(statementTimeoutSeconds);
  delete names['idle_in_transaction_session_timeout'];
  const { rows } = await pool.query<{ name: string; is: string; missing: string; role: string }>(
    `select name, setting as is, quote_ident(current_user) as role from pg_settings
       where name = any($1) order by name`,
    [Object.keys(names)],
  );
  const missing = rows.filter(({ name, is }) => is !== names[name]);
  if (missing.length === 0) return;
  const statements = missing.map(
    ({ name, role }) => `alter role ${role} set ${name} = '${names[name]}'`,
  );
  logger.warn(
    { advice: statements },
    'the pooler passes no settings on; single statements run without these',
  );
}
