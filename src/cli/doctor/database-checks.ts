import pg from 'pg';
import { MIGRATIONS } from '../../migrations/index.js';
import { clientOptions, type Config, type DatabaseConnection } from '../../platform/index.js';
import { fault, ok, reasonOf, skipped, warning, type Finding } from './finding.js';

const LEAST_VERSION = 150_000;
const COMMITS = 20;
const SLOW_COMMIT_MS = 20;
const CLOCK_TOLERANCE_SECONDS = 5;

interface ServerFacts {
  version: string;
  number: number;
  encoding: string;
  readOnly: string;
  connections: number;
  used: number;
  now: Date;
  encrypted: boolean | null;
  isLocal: boolean;
}

const FACTS = `
  select current_setting('server_version') as version,
         current_setting('server_version_num')::int as number,
         current_setting('server_encoding') as encoding,
         current_setting('transaction_read_only') as "readOnly",
         current_setting('max_connections')::int as connections,
         (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
         clock_timestamp() as now,
         (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as encrypted,
         inet_server_addr() is null as "isLocal"`;

/** The database as the service will use it: version, rights, speed of a commit, schema, clock. Changes nothing that stays. */
export async function checkDatabase(
  config: Config,
  connection: DatabaseConnection,
): Promise<Finding[]> {
  const client = new pg.Client(clientOptions(connection, 'gridgate doctor'));
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    const advice =
      'Check DATABASE_URL (host, port, user, password, sslmode) and the database’s log';
    return [fault('database', `cannot connect: ${reasonOf(error)}`, advice)];
  }
  try {
    const { rows } = await client.query<ServerFacts>(FACTS);
    const facts = rows[0] as ServerFacts;
    return [
      serverFinding(facts),
      connectionsFinding(config, facts),
      clockFinding(facts),
      await writingFinding(client, facts),
      await schemaFinding(client),
    ];
  } catch (error) {
    return [fault('database', `a statement failed: ${reasonOf(error)}`, 'See the database’s log')];
  } finally {
    await client.end().catch(() => undefined);
  }
}

function serverFinding({ version, number, encoding, encrypted, isLocal }: ServerFacts): Finding {
  const way = isLocal ? 'by a local socket' : encrypted ? 'over TLS' : 'over TCP without TLS';
  const text = `PostgreSQL ${version}, ${encoding}, ${way}`;
  if (number < LEAST_VERSION) {
    return fault('database', text, 'The service needs PostgreSQL 15 or newer');
  }
  if (encoding !== 'UTF8') {
    return fault('database', text, "Create the database with encoding 'UTF8'");
  }
  return ok('database', text);
}

function connectionsFinding({ databasePool }: Config, facts: ServerFacts): Finding {
  const needed = databasePool + 3;
  const free = facts.connections - facts.used;
  const text = `${facts.connections} connections, ${facts.used} in use; one instance needs up to ${needed}`;
  const advice = `Raise max_connections, lower GRID_DB_POOL, or put PgBouncer in between`;
  return free < needed ? warning('connections', text, advice) : ok('connections', text);
}

function clockFinding({ now }: ServerFacts): Finding {
  const seconds = (now.getTime() - Date.now()) / 1000;
  const text = `this machine and the database differ by ${Math.abs(seconds).toFixed(1)} s`;
  return Math.abs(seconds) > CLOCK_TOLERANCE_SECONDS
    ? fault('clock', text, 'Let both follow a time server (chrony): tokens and leases depend on it')
    : ok('clock', text);
}

/** The user may make tables, and a durable commit is timed. */
async function writingFinding(client: pg.Client, facts: ServerFacts): Promise<Finding> {
  if (facts.readOnly === 'on') {
    const advice = 'DATABASE_URL names a standby: name the primary';
    return fault('writing', 'the database is read-only', advice);
  }
  const { rows } = await client.query<{ may: boolean | null }>(
    "select has_schema_privilege(current_schema(), 'create') as may",
  );
  if (rows[0]?.may !== true) {
    const advice = 'Make the user of DATABASE_URL the owner of the database';
    return fault('writing', 'the user may not create tables', advice);
  }
  const milliseconds = await commitTime(client);
  const text = `a durable commit takes ${milliseconds.toFixed(1)} ms (median of ${COMMITS})`;
  const advice =
    'Each submit waits for one: look at the disk of the database, and the network to it';
  return milliseconds > SLOW_COMMIT_MS ? warning('writing', text, advice) : ok('writing', text);
}

/** Median milliseconds of a commit that writes to the log: pg_logical_emit_message leaves nothing behind. */
async function commitTime(client: pg.Client): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < COMMITS; i += 1) {
    const start = process.hrtime.bigint();
    await client.query("select pg_logical_emit_message(true, 'gridgate-doctor', 'commit')");
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  return times.sort((a, b) => a - b)[COMMITS / 2] ?? 0;
}

async function schemaFinding(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ there: boolean }>(
    "select to_regclass('migrations') is not null as there",
  );
  if (rows[0]?.there !== true) {
    return warning(
      'schema',
      'the database is empty',
      'The first start, or `gridgate migrate`, fills it',
    );
  }
  const done = await client.query<{ name: string }>('select name from migrations order by id');
  const names = new Set(done.rows.map(({ name }) => name));
  const own = MIGRATIONS.map(({ name }) => name);
  const missing = own.filter((name) => !names.has(name));
  const foreign = [...names].filter((name) => !own.includes(name));
  if (foreign.length > 0) {
    const text = `the schema is of a newer version (${foreign.length} migrations are not known here)`;
    return warning(
      'schema',
      text,
      'Both versions may run side by side during an upgrade, not longer',
    );
  }
  return missing.length === 0
    ? ok('schema', `the schema is of this version (${own.length} migrations)`)
    : warning('schema', `${missing.length} migrations are pending`, 'The next start runs them');
}

/** What the service needs of a session and not of a statement: notifications and locks, over the direct connection. */
export async function checkSessions(connection: DatabaseConnection): Promise<Finding> {
  const check = 'sessions';
  const [one, other] = [0, 1].map(
    () => new pg.Client(clientOptions(connection, 'gridgate doctor')),
  ) as [pg.Client, pg.Client];
  const clients = [one, other];
  try {
    for (const client of clients) {
      client.on('error', () => undefined);
      await client.connect();
    }
    const heard = notification(one);
    await one.query('listen gridgate_doctor');
    await one.query('select pg_advisory_lock(1735550308, 0)');
    const { rows } = await other.query<{ got: boolean }>(
      'select pg_try_advisory_lock(1735550308, 0) as got',
    );
    await other.query('notify gridgate_doctor');
    const isLocked = rows[0]?.got === false;
    if (isLocked && (await heard)) return ok(check, 'notifications and session locks work');
    const advice =
      'A pooler in transaction mode is in between: name a direct connection in GRID_DATABASE_DIRECT_URL';
    return fault(check, 'notifications or session locks do not work', advice);
  } catch (error) {
    return skipped(check, `not tried: ${reasonOf(error)}`);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/** True when a notification comes within two seconds. */
function notification(client: pg.Client): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), 2_000);
    client.once('notification', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
