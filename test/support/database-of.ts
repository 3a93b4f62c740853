import { DataSource } from 'typeorm';
import { Database, dataSourceOptions, poolerRules, type PoolerRules } from '#src/database/index.js';
import { databaseConnection, type Grid } from './testbed.js';

/** Does something with a pool on the database of a running server, as a command does that administrators run beside it. */
export async function onDatabaseOf(
  { database: { name } }: Grid,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const connection = databaseConnection(name);
  const limits = { poolSize: 2, statementTimeoutSeconds: 20, connectTimeoutSeconds: 5 };
  const options = { connection: () => connection, ...limits, entities: [], migrations: [] };
  const dataSource = await new DataSource(dataSourceOptions(options)).initialize();
  const pooler = poolerRules(connection, { ...limits, sessions: limits.poolSize });
  const rules = (): PoolerRules | undefined => pooler;
  try {
    await work(new Database(() => dataSource, undefined, undefined, rules));
  } finally {
    await pooler?.sessions.end();
    await dataSource.destroy();
  }
}
