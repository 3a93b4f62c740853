import { Socket } from 'node:net';
import pg from 'pg';
import { parse } from 'pg-connection-string';
import type { DataSourceOptions, EntitySchema } from 'typeorm';

/** How to reach the database: a URL, or the socket directory of the embedded one. */
export interface DatabaseConnection {
  url?: string;
  host?: string;
  port?: number;
  user?: string;
  database?: string;
}

type EntityClass = new (...args: never[]) => object;

/** What a DataSource of the service is made from. */
export interface DataSourceInput {
  connection: DatabaseConnection;
  poolSize: number;
  statementTimeoutSeconds: number;
  connectTimeoutSeconds: number;
  entities: (EntityClass | EntitySchema)[];
  migrations: EntityClass[];
  applicationName?: string;
}

const INT8 = 20;

/** bigint columns: number as long as that is exact, bigint beyond 2^53. */
export function parseInt8(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

function typeParser(oid: number, format?: 'text' | 'binary'): unknown {
  const isText = format !== 'binary';
  return oid === INT8 && isText ? parseInt8 : pg.types.getTypeParser(oid, format);
}

const types: pg.CustomTypesConfig = {
  getTypeParser: typeParser as pg.CustomTypesConfig['getTypeParser'],
};

/** A connection attempt is looked at so often. */
const CONNECT_LOOK_MS = 100;

/**
 * A connection of the pool. One that dies while nobody waits for an answer (between two statements of a transaction,
 * or on its way to or from the pool) says so by an event, and an event that nobody hears ends the process; the next
 * statement on it fails in any case.
 *
 * Connecting has a bound of its own, as the pool's is that of waiting for a connection: a busy database is not one that
 * is away. It is counted in looks, not by the clock, so that a process that was too busy to hear the answer (hundreds
 * of TLS handshakes at once) does not give up on a database that has answered.
 */
function pooledClient(connectTimeoutSeconds: number): typeof pg.Client {
  const looks = Math.ceil((connectTimeoutSeconds * 1000) / CONNECT_LOOK_MS);
  return class extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      const socket = new Socket();
      super({ ...config, connectionTimeoutMillis: 0, stream: () => socket });
      this.on('error', () => undefined);
      let left = looks;
      const looking = setInterval(() => {
        left -= 1;
        if (left <= 0) socket.destroy(new Error('timeout expired'));
      }, CONNECT_LOOK_MS);
      looking.unref();
      const done = (): void => clearInterval(looking);
      this.once('connect', done);
      socket.once('close', done);
    }
  };
}

/** TypeORM options of the service: UTC, bounded waits everywhere, no schema synchronisation. */
export function dataSourceOptions(input: DataSourceInput): DataSourceOptions {
  const { connection } = input;
  const statementTimeout = input.statementTimeoutSeconds * 1000;
  return {
    type: 'postgres',
    ...target(connection),
    applicationName: input.applicationName ?? 'gridgate',
    poolSize: input.poolSize,
    connectTimeoutMS: Math.max(statementTimeout, input.connectTimeoutSeconds * 1000),
    synchronize: false,
    migrationsTransactionMode: 'each',
    entities: input.entities,
    migrations: input.migrations,
    poolErrorHandler: () => undefined, // idle connections die with the server; the next query tells
    extra: {
      Client: pooledClient(input.connectTimeoutSeconds),
      types,
      options: '-c timezone=UTC -c jit=off -c max_parallel_workers_per_gather=0',
      statement_timeout: statementTimeout,
      query_timeout: statementTimeout + 2_000,
      idle_in_transaction_session_timeout: 60_000,
      keepAlive: true,
      idleTimeoutMillis: 30_000,
    },
  };
}

type Target = Pick<
  Extract<DataSourceOptions, { type: 'postgres' }>,
  'host' | 'port' | 'username' | 'password' | 'database' | 'ssl'
>;

/** TypeORM's own reading of URLs knows no socket directories; the driver's does. */
function target(connection: DatabaseConnection): Target {
  if (connection.url === undefined) {
    const { host, port, user, database } = connection;
    return { host, port, username: user, database };
  }
  const { host, port, user, password, database, ssl } = parse(connection.url);
  return {
    host: host ?? undefined,
    port: Number(port ?? 5432),
    username: user,
    password,
    database: database ?? undefined,
    ...(ssl === undefined ? {} : { ssl: ssl as boolean }),
  };
}
