import { hostname } from 'node:os';
import { DataSource } from 'typeorm';
import { systemClock } from '../kernel/index.js';
import { MIGRATIONS } from '../migrations/index.js';
import { entities } from '../app.module.js';
import {
  Audit,
  AuditEventsRepository,
  AuditWriter,
  type AuditDetails,
  type AuditSetting,
} from '#src/audit/index.js';
import type { Config, DatabaseConnection } from '#src/config/index.js';
import {
  adviseRole,
  ChangeFeed,
  checkPooler,
  ConnectionPermits,
  connectDataSource,
  Database,
  dataSourceOptions,
  directClient,
  migrate,
  poolerRules,
  whenDatabaseIsThere,
  type DatabaseWait,
  type PoolerRules,
} from '#src/database/index.js';
import { createLogger, Metrics, Readiness, Tracing, type Logger } from '#src/runtime/index.js';

/** How long somebody waits for a connection while the database does not answer. */
const SILENCE_MS = 1_500;

/** What one process has opened: database, change feed, logger; made before the application. */
export interface Runtime {
  config: Config;
  logger: Logger;
  /** TypeORM's, for repositories of entities; not connected before connect(). */
  dataSource: DataSource;
  database: Database;
  changeFeed: ChangeFeed;
  metrics: Metrics;
  readiness: Readiness;
  tracing: Tracing;
  audit: Audit;
  auditWriter: AuditWriter;
  /** True once the database has the schema of this version. */
  readonly migrated: boolean;
  /** How parts of the start wait for the database; requests do not wait with them. */
  waitFor(signal: AbortSignal): DatabaseWait;
  /** Connects (waiting while the database is away), migrates, starts the change feed. */
  connect(signal: AbortSignal): Promise<void>;
  /** Writes what is left of the audit trail, ends the feed and the pool. */
  close(): Promise<void>;
}

/** Where the audit trail goes when not into the log, and what every line of it says. */
export interface AuditTrail {
  logger: Logger;
  origin: AuditDetails;
}

/** Who writes the log: a logger that is there, or one made for `log`, by default standard error. */
export interface Logging {
  logger?: Logger | undefined;
  log?: { write(line: string): void } | undefined;
  trail?: AuditTrail;
}

/** TypeORM's data source with the entities and migrations of this version, not yet connected. */
export function createDataSource(config: Config, connection: () => DatabaseConnection): DataSource {
  return new DataSource(
    dataSourceOptions({
      connection,
      poolSize: config.databasePool,
      ...limitsOf(config),
      entities,
      migrations: MIGRATIONS,
    }),
  );
}

function limitsOf(config: Config): {
  statementTimeoutSeconds: number;
  connectTimeoutSeconds: number;
  sessions: number;
} {
  return {
    statementTimeoutSeconds: config.databaseTimeout,
    connectTimeoutSeconds: config.databaseConnectTimeout,
    sessions: config.databasePool,
  };
}

function waiting(logger: Logger, readiness: Readiness): Runtime['waitFor'] {
  return (signal) => ({ logger, signal, onAway: () => readiness.delay() });
}

/** Prepares a process for the given database; connects to nothing yet. */
export function createRuntime(
  config: Config,
  connection: () => DatabaseConnection,
  { logger: ownLogger, log, trail }: Logging = {},
): Runtime {
  const tracing = new Tracing();
  const metrics = new Metrics();
  const logger = ownLogger ?? createLogger(config.logLevel, log, traceIds(config, tracing));
  const dataSource = createDataSource(config, connection);
  let migrated = false;
  const gate = connectionPermits(config, metrics);
  let pooler: PoolerRules | undefined;
  const rules = (): PoolerRules | undefined => pooler;
  const database = new Database(() => dataSource, tracing, gate, rules);
  const readiness = new Readiness();
  const waitFor = waiting(logger, readiness);
  const auditing = auditingOf(config, { database, logger, metrics }, trail);
  const changeFeed = new ChangeFeed(() => directClient(connection(), 'gridgate changes'), database);
  return {
    config,
    logger,
    dataSource,
    database,
    changeFeed,
    metrics,
    ...auditing,
    readiness,
    tracing,
    get migrated() {
      return migrated;
    },
    waitFor,
    async connect(signal) {
      pooler = poolerRules(connection(), limitsOf(config));
      const waiting = waitFor(signal);
      await connectDataSource(dataSource, waiting);
      const { pool } = database;
      const look = async (): Promise<void> => {
        await checkPooler(pool, connection());
        if (pooler) await adviseRole(pool, { ...limitsOf(config), logger });
      };
      await whenDatabaseIsThere(look, waiting);
      const done = await whenDatabaseIsThere(() => migrate(dataSource, connection()), waiting);
      migrated = true;
      database.serveEntities();
      if (done.length > 0) logger.info({ migrations: done }, 'migrated the database');
      changeFeed.start();
    },
    async close() {
      await auditing.auditWriter.close();
      await changeFeed.stop();
      await pooler?.sessions.end();
      if (dataSource.isInitialized) await dataSource.destroy();
    },
  };
}

/** The audit trail, and who keeps it in the database. */
function auditingOf(
  config: Config,
  { database, logger, metrics }: Pick<Runtime, 'database' | 'logger' | 'metrics'>,
  trail: AuditTrail | undefined,
): Pick<Runtime, 'audit' | 'auditWriter'> {
  const auditWriter = new AuditWriter({
    instance: trail ? hostname() : `${hostname()}:${config.port}`,
    repository: new AuditEventsRepository(database),
    ...{ clock: systemClock, logger, metrics },
  });
  const keep: AuditSetting['keep'] = (line) => auditWriter.keep(line);
  const audit = new Audit(trail?.logger ?? logger, metrics, {
    ...(trail && { origin: trail.origin }),
    ...(config.auditRetention > 0 && { keep }),
  });
  return { audit, auditWriter };
}

/** The ids of the trace under way for every log line; nothing at all while traces are off. */
function traceIds(config: Config, tracing: Tracing): (() => object) | undefined {
  return config.otlpEndpoint === undefined ? undefined : () => tracing.ids() ?? {};
}

/** The queue in front of the pool: as patient as the deadline of a request allows, and seen in the metrics. */
function connectionPermits(config: Config, metrics: Metrics): ConnectionPermits {
  const patience = Math.min(config.databaseQueueTimeout, config.requestTimeout * 0.9);
  const permits = new ConnectionPermits({
    connections: config.databasePool,
    maxWaiting: config.databaseQueue,
    maxWaitMs: patience * 1000,
    maxWaitWhileSilentMs: Math.min(SILENCE_MS, patience * 1000),
  });
  const text = 'Connections of the database pool, and statements that wait for one';
  metrics.gauge('gridgate_database_pool', text, ['state'], (gauge) => {
    gauge.set({ state: 'busy' }, permits.busy);
    gauge.set({ state: 'free' }, config.databasePool - permits.busy);
    gauge.set({ state: 'waiting' }, permits.waiting);
  });
  return permits;
}
