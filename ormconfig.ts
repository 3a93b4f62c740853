/** The data source for the TypeORM command line: `npx typeorm migration:show -d dist/ormconfig.js` (after a build). */
import 'reflect-metadata';
import { runningEmbeddedPostgres } from './src/embedded-postgres/index.js';
import { configuredDatabase, readConfig } from './src/config/index.js';
import { createDataSource } from './src/app/runtime.js';

const config = readConfig(process.env);
const connection =
  configuredDatabase(config) ?? (await runningEmbeddedPostgres({ home: config.homePath }));
if (!connection) {
  throw new Error('no database: set DATABASE_URL, or start the server of this GRID_HOME');
}

export const dataSource = createDataSource(config, () => connection);
