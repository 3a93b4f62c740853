import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { clientOfPool, pooledTarget, type DatabaseTarget } from './database-client.js';
import type { DatabaseConnection } from '#src/config/index.js';
import type { EntityClass } from './entities.js';
import { SnakeNamingStrategy } from './snake-naming-strategy.js';
import { parseTimestamptz } from './timestamp-text.js';

/** What a DataSource of the service is made from. */
export interface DataSourceInput {
  /** Asked for when the first connection is made: an embedded database has to be started before. */
  connection: () => DatabaseConnection;
  poolSize: number;
  statementTimeoutSeconds: number;
  connectTimeoutSeconds: number;
  entities: EntityClass[];
  migrations: EntityClass[];
  applicationName?: string;
}

type TypeId = Parameters<typeof pg.types.getTypeParser>[0];

/** bigint columns: number as long as that is exact, bigint beyond 2^53. */
export function parseInt8(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

function typeParser(oid: TypeId, format?: 'text' | 'binary'): unknown {
  if (format !== 'binary') {
    if (oid === pg.types.builtins.INT8) return parseInt8;
    if (oid === pg.types.builtins.TIMESTAMPTZ) return parseTimestamptz;
  }
  return pg.types.getTypeParser(oid, format);
}

const types: pg.CustomTypesConfig = {
  getTypeParser: typeParser as pg.CustomTypesConfig['getTypeParser'],
};

/**
 * TypeORM options of the service: UTC, bounded waits everywhere, no schema synchronisation. How to connect is decided
 * by DatabaseClient alone.
 */
export function dataSourceOptions(input: DataSourceInput): DataSourceOptions {
  const target = (): DatabaseTarget => pooledTarget(input.connection());
  const { statementTimeoutSeconds, connectTimeoutSeconds } = input;
  const name = input.applicationName ?? 'gridgate';
  return {
    type: 'postgres',
    poolSize: input.poolSize,
    connectTimeoutMS: Math.max(statementTimeoutSeconds, connectTimeoutSeconds) * 1000,
    synchronize: false,
    namingStrategy: new SnakeNamingStrategy(),
    migrationsTransactionMode: 'each',
    entities: input.entities,
    migrations: input.migrations,
    poolErrorHandler: () => undefined, // idle connections die with the server; the next query tells
    extra: {
      Client: clientOfPool(target, { name, connectTimeoutSeconds, statementTimeoutSeconds, types }),
      idleTimeoutMillis: 30_000,
    },
  };
}
