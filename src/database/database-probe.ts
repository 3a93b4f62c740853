import type pg from 'pg';
import { directClient, pooledClient } from './connect.js';
import type { DatabaseConnection } from '#src/config/index.js';
import { ADVISORY_LOCKS, LOCK_SPACES } from './lock-names.js';

const NAME = 'gridgate doctor';
const COMMITS = 20;
const PROBE_LOCK = `select pg_try_advisory_lock(${LOCK_SPACES.named}, ${ADVISORY_LOCKS.doctor}) as got`;

/** What a database says of itself to the user of the service. */
export interface DatabaseFacts {
  version: string;
  /** `server_version_num`. */
  versionNumber: number;
  encoding: string;
  isReadOnly: boolean;
  maxConnections: number;
  usedConnections: number;
  /** Its clock. */
  now: Date;
  isEncrypted: boolean;
  isLocal: boolean;
  mayCreateTables: boolean;
  /** Names of the migrations that have run, undefined when there has been none. */
  migrations: string[] | undefined;
}

const FACTS = `
  select current_setting('server_version') as "version",
         current_setting('server_version_num')::int as "versionNumber",
         current_setting('server_encoding') as "encoding",
         current_setting('transaction_read_only') = 'on' as "isReadOnly",
         current_setting('max_connections')::int as "maxConnections",
         (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as "usedConnections",
         clock_timestamp() as "now",
         coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "isEncrypted",
         inet_server_addr() is null as "isLocal",
         coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreateTables",
         to_regclass('migrations') is not null as "isMigrated"`;

/** Looks at a database without changing it. Throws the driver's error when it cannot be reached. */
export async function probeDatabase(connection: DatabaseConnection): Promise<DatabaseFacts> {
  return withClients([pooledClient(connection, NAME)], async ([client]) => {
    const { rows } = await client.query<DatabaseFacts & { isMigrated: boolean }>(FACTS);
    const { isMigrated, ...facts } = rows[0] as DatabaseFacts & { isMigrated: boolean };
    if (!isMigrated) return { ...facts, migrations: undefined };
    const done = await client.query<{ name: string }>('select name from migrations order by id');
    return { ...facts, migrations: done.rows.map(({ name }) => name) };
  });
}

/** Median milliseconds of a durable commit: pg_logical_emit_message writes to the log and leaves nothing behind. */
export async function commitMilliseconds(connection: DatabaseConnection): Promise<number> {
  return withClients([pooledClient(connection, NAME)], async ([client]) => {
    const times: number[] = [];
    for (let i = 0; i < COMMITS; i += 1) {
      const start = performance.now();
      await client.query("select pg_logical_emit_message(true, 'gridgate', 'probe')");
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[COMMITS / 2] ?? 0;
  });
}

/** True when notifications arrive and session locks hold: not so through a pooler that the direct URL does not avoid. */
export async function keepsSessions(connection: DatabaseConnection): Promise<boolean> {
  const clients = [directClient(connection, NAME), directClient(connection, NAME)];
  return withClients(clients, async ([one, other]) => {
    const heard = notification(one);
    await one.query('listen gridgate_probe');
    await one.query(PROBE_LOCK);
    const { rows } = await other.query<{ got: boolean }>(PROBE_LOCK);
    await other.query('notify gridgate_probe');
    return rows[0]?.got === false && (await heard);
  });
}

type Clients = [pg.Client, pg.Client];

async function withClients<T>(
  clients: pg.Client[],
  work: (clients: Clients) => Promise<T>,
): Promise<T> {
  try {
    for (const client of clients) await client.connect();
    return await work(clients as Clients);
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
