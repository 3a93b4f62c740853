import { MIGRATIONS } from '../../migrations/index.js';
import type { Config, DatabaseConnection } from '#src/config/index.js';
import {
  commitMilliseconds,
  keepsSessions,
  probeDatabase,
  type DatabaseFacts,
} from '#src/database/index.js';
import { fault, ok, reasonOf, skipped, warning, type Finding } from './finding.js';

const LEAST_VERSION = 150_000;
const SLOW_COMMIT_MS = 20;
const CLOCK_TOLERANCE_SECONDS = 5;

/** The database as the service will use it: version, rights, speed of a commit, schema, clock. Changes nothing. */
export async function checkDatabase(
  config: Config,
  connection: DatabaseConnection,
): Promise<Finding[]> {
  let facts: DatabaseFacts;
  try {
    facts = await probeDatabase(connection);
  } catch (error) {
    const advice =
      'Check DATABASE_URL (host, port, user, password, sslmode) and the database’s log';
    return [fault('database', `cannot be used: ${reasonOf(error)}`, advice)];
  }
  return [
    serverFinding(facts),
    connectionsFinding(config, facts),
    clockFinding(facts),
    await writingFinding(facts, connection),
    schemaFinding(facts),
  ];
}

/** What the service needs of a session and not of a statement: notifications and locks, over the direct connection. */
export async function checkSessions(connection: DatabaseConnection): Promise<Finding> {
  const check = 'sessions';
  try {
    if (await keepsSessions(connection)) return ok(check, 'notifications and session locks work');
    const advice =
      'A pooler in transaction mode is in between: name a direct connection in GRID_DATABASE_DIRECT_URL';
    return fault(check, 'notifications or session locks do not work', advice);
  } catch (error) {
    return skipped(check, `not tried: ${reasonOf(error)}`);
  }
}

function serverFinding(facts: DatabaseFacts): Finding {
  const { version, versionNumber, encoding, isEncrypted, isLocal } = facts;
  const way = isLocal ? 'by a local socket' : isEncrypted ? 'over TLS' : 'over TCP without TLS';
  const text = `PostgreSQL ${version}, ${encoding}, ${way}`;
  if (versionNumber < LEAST_VERSION) {
    return fault('database', text, 'The service needs PostgreSQL 15 or newer');
  }
  if (encoding !== 'UTF8') {
    return fault('database', text, "Create the database with encoding 'UTF8'");
  }
  return ok('database', text);
}

function connectionsFinding({ databasePool }: Config, facts: DatabaseFacts): Finding {
  const needed = databasePool + 3;
  const free = facts.maxConnections - facts.usedConnections;
  const text = `${facts.maxConnections} connections, ${facts.usedConnections} in use; one instance needs up to ${needed}`;
  const advice = 'Raise max_connections, lower GRID_DB_POOL, or put PgBouncer in between';
  return free < needed ? warning('connections', text, advice) : ok('connections', text);
}

function clockFinding({ now }: DatabaseFacts): Finding {
  const seconds = Math.abs(now.getTime() - Date.now()) / 1000;
  const text = `this machine and the database differ by ${seconds.toFixed(1)} s`;
  return seconds > CLOCK_TOLERANCE_SECONDS
    ? fault('clock', text, 'Let both follow a time server (chrony): tokens and leases depend on it')
    : ok('clock', text);
}

/** The user may make tables, and a durable commit is timed. */
async function writingFinding(
  facts: DatabaseFacts,
  connection: DatabaseConnection,
): Promise<Finding> {
  const check = 'writing';
  if (facts.isReadOnly) {
    const advice = 'DATABASE_URL names a standby: name the primary';
    return fault(check, 'the database is read-only', advice);
  }
  if (!facts.mayCreateTables) {
    const advice = 'Make the user of DATABASE_URL the owner of the database';
    return fault(check, 'the user may not create tables', advice);
  }
  const milliseconds = await commitMilliseconds(connection);
  const text = `a durable commit takes ${milliseconds.toFixed(1)} ms`;
  const advice =
    'Each submit waits for one: look at the disk of the database, and the network to it';
  return milliseconds > SLOW_COMMIT_MS ? warning(check, text, advice) : ok(check, text);
}

function schemaFinding({ migrations }: DatabaseFacts): Finding {
  const check = 'schema';
  if (migrations === undefined) {
    const advice = 'The first start, or `gridgate migrate`, fills it';
    return warning(check, 'the database is empty', advice);
  }
  const done = new Set(migrations);
  const own = MIGRATIONS.map(({ name }) => name);
  const newest = Math.max(...own.map(timeOf));
  const newer = migrations.filter((name) => timeOf(name) > newest);
  if (newer.length > 0) {
    const text = `the schema is of a newer version (${newer.length} migrations are not known here)`;
    const advice = 'Both versions may run side by side during an upgrade, not longer';
    return warning(check, text, advice);
  }
  const missing = own.filter((name) => !done.has(name));
  return missing.length === 0
    ? ok(check, `the schema is of this version (${own.length} migrations)`)
    : warning(check, `${missing.length} migrations are pending`, 'The next start runs them');
}

/** A migration's name ends with its time in ms; an older one that is not known is part of a step that is. */
function timeOf(migration: string): number {
  return Number(migration.slice(-13));
}
