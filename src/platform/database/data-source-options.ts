import pg from 'pg';
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

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary'
      ? parseInt8
      : pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
};

/** TypeORM options of the service: UTC, bounded waits everywhere, no schema synchronisation. */
export function dataSourceOptions(input: DataSourceInput): DataSourceOptions {
  const { connection } = input;
  const statementTimeout = input.statementTimeoutSeconds * 1000;
  return {
    type: 'postgres',
    ...(connection.url === undefined
      ? {
          host: connection.host,
          port: connection.port,
          username: connection.user,
          database: connection.database,
        }
      : { url: connection.url }),
    applicationName: input.applicationName ?? 'gridgate',
    poolSize: input.poolSize,
    connectTimeoutMS: input.connectTimeoutSeconds * 1000,
    synchronize: false,
    migrationsTransactionMode: 'each',
    entities: input.entities,
    migrations: input.migrations,
    poolErrorHandler: () => undefined, // idle connections die with the server; the next query tells
    extra: {
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
