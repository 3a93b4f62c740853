import * as v from './variables.js';

/** The variables of the database: how to reach it, and how many may wait how long. */
export const DATABASE = {
  databaseUrl: v.databaseUrl(
    'DATABASE_URL',
    '`postgres://user:password@host:port/database?sslmode=…&sslrootcert=…&sslcert=…&sslkey=…` (docs/deployment.md, Database connections); without it an embedded PostgreSQL runs in `GRID_HOME`',
    'embedded PostgreSQL',
  ),
  databaseDirectUrl: v.databaseUrl(
    'GRID_DATABASE_DIRECT_URL',
    'PostgreSQL itself, when `DATABASE_URL` leads to PgBouncer in transaction mode: changes of other instances are heard and locks of sessions held there',
    '`DATABASE_URL`',
  ),
  databasePool: v.integer('GRID_DB_POOL', 10, {
    min: 2,
    max: 500,
    description: 'Connections of the pool',
  }),
  databaseTimeout: v.integer('GRID_DB_TIMEOUT', 30, {
    min: 1,
    max: 3600,
    description: 'Seconds after which a statement is given up',
  }),
  databaseConnectTimeout: v.integer('GRID_DB_CONNECT_TIMEOUT', 2, {
    min: 1,
    max: 60,
    description: 'Seconds to wait for a new connection before answering 503',
  }),

  databaseQueue: v.integer('GRID_DB_QUEUE', 1_000, {
    min: 0,
    max: 100_000,
    description:
      'Statements of requests that may wait for a free connection; further ones are answered 503',
  }),
  databaseQueueTimeout: v.integer('GRID_DB_QUEUE_TIMEOUT', 10, {
    min: 1,
    max: 600,
    description: 'Seconds to wait for a free connection before answering 503',
  }),
};
