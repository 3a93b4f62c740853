import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { entities } from '../../src/app.module.js';
import { MIGRATIONS } from '../../src/migrations/index.js';
import {
  Database,
  dataSourceOptions,
  poolerRules,
  type PoolerRules,
} from '../../src/database/index.js';
import { databaseConnection, databaseUrl, onServer } from './testbed.js';

/** A database of its own with the schema of this version, without a server. */
export interface ScratchDatabase {
  url: string;
  /** TypeORM's own data source on it, ended by remove(). */
  dataSource: DataSource;
  /** One more pool on it, as another instance has. */
  open(): Promise<Database>;
  /** Ends all pools and drops it. */
  remove(): Promise<void>;
}

/** Makes a database with the schema of this version. */
export async function scratchDatabase(): Promise<ScratchDatabase> {
  const name = `s_${randomBytes(6).toString('hex')}`;
  const connection = databaseConnection(name);
  const limits = { poolSize: 4, statementTimeoutSeconds: 20, connectTimeoutSeconds: 5 };
  const opened: DataSource[] = [];
  const poolers: PoolerRules[] = [];
  const open = async (): Promise<DataSource> => {
    const options = dataSourceOptions({
      connection: () => connection,
      ...limits,
      entities,
      migrations: MIGRATIONS,
    });
    const dataSource = await new DataSource(options).initialize();
    opened.push(dataSource);
    return dataSource;
  };
  await onServer(`create database "${name}"`);
  // Storms of writers meet in deadlocks: each would stop them for a second until it is found.
  await onServer(`alter database "${name}" set deadlock_timeout = '20ms'`);
  await onServer(`alter database "${name}" set synchronous_commit = off`); // nobody kills this one
  const first = await open();
  await first.runMigrations({ transaction: 'each' });
  return {
    url: databaseUrl(name),
    dataSource: first,
    async open() {
      const dataSource = await open();
      const pooler = poolerRules(connection, { ...limits, sessions: limits.poolSize });
      if (pooler) poolers.push(pooler);
      const database = new Database(
        () => dataSource,
        undefined,
        undefined,
        () => pooler,
      );
      database.serveEntities();
      return database;
    },
    async remove() {
      await Promise.all(poolers.splice(0).map(({ sessions }) => sessions.end()));
      await Promise.all(opened.splice(0).map((dataSource) => dataSource.destroy()));
      await onServer(`drop database "${name}" with (force)`);
    },
  };
}
