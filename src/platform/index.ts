export {
  CONFIG,
  ConfigurationFault,
  configuredDatabase,
  openSettings,
  readConfig,
  VARIABLES,
  type Config,
} from './config/env.js';
export { DatabaseConnectionError, isDatabaseAway, sqlState } from './database/connection-error.js';
export type { DatabaseConnection } from './database/database-url.js';
export { Database, type Queryable, type Statement, type Transaction } from './database/database.js';
export {
  columnsOf,
  entityColumns,
  registeredEntities,
  type EntityClass,
  type EntityColumn,
} from './database/entities.js';
export { dataSourceOptions, parseInt8 } from './database/data-source-options.js';
export {
  commitMilliseconds,
  keepsSessions,
  probeDatabase,
  type DatabaseFacts,
} from './database/database-probe.js';
export { ConnectionPermits } from './database/connection-permits.js';
export { ChangeFeed } from './database/change-feed.js';
export { CATALOGUE_LOCKS, LOCK_SEEDS, LOCK_SPACES } from './database/lock-names.js';
export { withKeyedLock, lockInTransaction, withAdvisoryLock } from './database/advisory-lock.js';
export { adviseRole, checkPooler, poolerRules, type PoolerRules } from './database/pooler.js';
export { EventLog } from './feed/event-log.js';
export type { LoggedEvent } from './feed/event-log.repository.js';
export { Feed } from './feed/feed.js';
export { CURSOR_PATTERN, cursorText, type FeedCursor } from './feed/feed-cursor.js';
export type { Tell } from './streams/feed-follower.js';
export { FeedAnswers } from './streams/feed-answers.js';
export { After, Wait } from './streams/feed.query.js';
export { Streams } from './streams/streams.js';
export { epochMs, feedColumns, feedCursorOf, logEvents, logRow } from './feed/log-events.js';
export { ExpiredRows } from './schedule/expired-rows.js';
export {
  Scheduler,
  type RunningTask,
  type ScheduledTask,
  type TaskOutcome,
} from './schedule/scheduler.js';
export { SessionLock } from './database/session-lock.js';
export { openVault } from './vault/key-encryption-key.js';
export { KeyVault } from './vault/key-vault.js';
export { QueryValues, queryValuesOf, setQueryValues } from './http/query-values.js';
export { JsonText } from './http/json-text.js';
export { accepts } from './http/accepted-type.js';
export { arrivingAhead } from './http/read-ahead.js';
export { ClientDisconnected, clientSignal, requireClient } from './http/client-signal.js';
export { readBody, refuseUnknownKeys } from './http/request.pipe.js';
export {
  FreeKeys,
  ReadAllBy,
  ReadBy,
  readJson,
  readQuery,
  readValues,
  Shape,
  type RequestClass,
  type RequestShape,
} from './http/request-class.js';
export * from './http/validators.js';
export { INSTANT, readTime, type TimeSpan } from './http/iso-time.js';
export {
  bodyTooLarge,
  contentTypeOf,
  decodeText,
  parseJsonText,
  readChunks,
  refuseEncoding,
  unsupportedMediaType,
  readForm,
} from './http/body.js';
export {
  callerNetworkOf,
  labelRequest,
  labelsOf,
  requestIdOf,
  type HttpRequest,
  type HttpResponse,
} from './http/messages.js';
export {
  connectDataSource,
  directClient,
  migrate,
  whenDatabaseIsThere,
  type DatabaseWait,
} from './database/connect.js';
export {
  createFileLogger,
  createLogger,
  LOGGER,
  NestLogger,
  type Logger,
} from './observe/logging/logger.js';
export { Cached } from './http/cached-answer.js';
export { beginCompressible, sendCompressible, sendPiece } from './http/compressed-answer.js';
export { ACCESS_RULE, OpenRoute } from './http/open-route.js';
export {
  Audit,
  type AuditActor,
  type AuditDetails,
  type AuditSetting,
  type AuditOrigin,
} from './observe/audit/audit.js';
export { Audited } from './observe/audit/audited.decorator.js';
export { AUDIT_EVENTS, auditEventsOf } from './observe/audit/audit-events.js';
export type { AuditEventEntity } from './trail/audit-event.entity.js';
export { AuditEventsRepository, type AuditSearch } from './trail/audit-events.repository.js';
export { AuditWriter } from './trail/audit-writer.js';
export { Tracing } from './observe/tracing/tracing.js';
export { Metrics, type MetricValues } from './observe/metrics/metrics.js';
export { serveMetrics } from './probes/metrics-listener.js';
export { PlatformModule, type PlatformInput } from './platform.module.js';
export { Readiness } from './observe/health/readiness.js';
export { GridExpressAdapter } from './http/grid-express.adapter.js';
export { requestMiddleware } from './http/request-middleware.js';
export { RequestsUnderWay } from './http/requests-under-way.js';
export { watchLoop, type LoopWatch } from './http/watch-loop.js';
export { corsByAllowList } from './http/cors.js';
export { ProblemFilter } from './http/problem.filter.js';
export { listen } from './http/listener.js';
export { Connections } from './http/connections.js';
export { answerClientErrors } from './http/client-errors.js';
export { RouteTable } from './http/route-table.js';
export { schemaByMediaType } from './http/openapi-completion.js';
export { serveStaticSite } from './http/static-site.js';
export { openApiDocument, serveSwagger } from './http/swagger.js';
export type { PathParameter } from './http/openapi-completion.js';
export {
  CertificateRefusal,
  PeerCertificates,
  type CertificateHolder,
} from './http/peer-certificates.js';
export { Admission } from './http/admission.js';
export { AddressList } from './http/address-list.js';
export { ClientAddresses } from './http/client-address.js';
export { DiskPlaces } from './home/disk-places.js';
export { openHome, type GridHome } from './home/grid-home.js';
export { isRunning, processStat } from './home/process-identity.js';
export { acquireProcessLock, LockHeldError, type ProcessLock } from './home/process-lock.js';
export { openTls, type OpenedTls } from './http/open-tls.js';
