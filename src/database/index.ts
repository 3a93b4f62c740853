export { lockInTransaction, withAdvisoryLock, withKeyedLock } from './advisory-lock.js';
export { ChangeFeed } from './change-feed.js';
export {
  type DatabaseWait,
  connectDataSource,
  directClient,
  migrate,
  whenDatabaseIsThere,
} from './connect.js';
export { DatabaseConnectionError, isDatabaseAway, sqlState } from './connection-error.js';
export { ConnectionPermits } from './connection-permits.js';
export { dataSourceOptions, parseInt8 } from './data-source-options.js';
export {
  type DatabaseFacts,
  commitMilliseconds,
  keepsSessions,
  probeDatabase,
} from './database-probe.js';
export { Database, type Queryable, type Statement, type Transaction } from './database.js';
export {
  type EntityClass,
  type EntityColumn,
  columnsOf,
  entityColumns,
  registeredEntities,
} from './entities.js';
export { type AdvisoryLock, CATALOGUE_LOCKS, LOCK_SEEDS, LOCK_SPACES } from './lock-names.js';
export { type PoolerRules, adviseRole, checkPooler, poolerRules } from './pooler.js';
export { SessionLock } from './session-lock.js';
