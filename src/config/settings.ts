import { DATA } from './settings-data.js';
import { DATABASE } from './settings-database.js';
import { DEMO } from './settings-demo.js';
import { ENERGY } from './settings-energy.js';
import { LOCAL_JOBS } from './settings-local-jobs.js';
import { TLS } from './settings-tls.js';
import { WEBHOOKS } from './settings-webhooks.js';
import * as v from './variables.js';

const DAY = 86_400;

/**
 * Every environment variable of the service, read once by env.ts. docs/configuration.md is made from this table;
 * the environment is read nowhere else.
 */
export const VARIABLES = {
  nodeEnv: v.text(
    'NODE_ENV',
    'development',
    '`production` turns off the embedded defaults that are meant for trying out: development CA, demo registry and local-process executor must then be asked for, and GRID_KEY_ENCRYPTION_KEY must be given',
  ),

  // where it lives
  home: v.text(
    'GRID_HOME',
    '.grid',
    'Directory of all state of the embedded defaults: `postgres/`, `pki/`, `sandboxes/`, `logs/`',
  ),
  host: v.text('GRID_HOST', '127.0.0.1', 'Listen address'),
  port: v.integer('GRID_PORT', 8443, {
    min: 0,
    max: 65535,
    description: 'Port of the HTTPS listener (0: any free port)',
  }),
  publicUrl: v.url(
    'GRID_PUBLIC_URL',
    '',
    'External base URL; issuer and audience of access tokens',
    '`https://localhost:` and GRID_PORT',
  ),
  issuerVo: v.optional(
    'GRID_ISSUER_VO',
    'The one virtual organisation that this issuer gives tokens for; members of groups of others get none',
    { defaultText: 'every one of the registry' },
  ),
  processes: v.integer('GRID_PROCESSES', 1, {
    min: 0,
    max: 256,
    description:
      'Processes that serve requests on the one port (0: one for each processor; with the embedded database as many as its 100 connections allow). Jobs run from the first one only. Each has its own GRID_DB_POOL and counts its own GRID_RATE_*',
  }),
  role: v.oneOf(
    'GRID_ROLE',
    ['all', 'api', 'worker'],
    'all',
    '`api`: no job execution; `worker`: no HTTP API beside health and metrics',
  ),
  registryFile: v.optional(
    'GRID_REGISTRY',
    'Path of a registry file (YAML) that is loaded at the start of a service without users and groups',
    { defaultText: 'demo registry' },
  ),
  registrySync: v.optionalFlag(
    'GRID_REGISTRY_SYNC',
    'The file of `GRID_REGISTRY` rules: it is loaded at each start, and changes by command and API are refused; the installation remembers it until `false` is said',
    'what was said last, `false` at first',
  ),
  portal: v.optionalFlag(
    'GRID_PORTAL',
    'Serve the portal at `/portal/`, for people with a browser: jobs, catalogue, usage',
    '`true` beside the demo',
  ),
  developmentCa: v.optionalFlag(
    'GRID_DEVELOPMENT_CA',
    'Make and trust a development CA in `GRID_HOME/pki`',
    '`true` outside production when no TLS files are given',
  ),

  ...DATABASE,

  ...TLS,

  // HTTP
  maxBodyBytes: v.integer('GRID_MAX_BODY', 1024 * 1024, {
    min: 1024,
    description: 'Bytes of a JSON or form body',
  }),
  maxBulkBytes: v.integer('GRID_MAX_BULK_BODY', 64 * 1024 * 1024, {
    min: 1024,
    description: 'Bytes of a body with many manifests (`{"manifests": […]}`, NDJSON)',
  }),
  requestTimeout: v.integer('GRID_REQUEST_TIMEOUT', 60, {
    min: 1,
    max: 3600,
    description: 'Seconds within which a request must be answered (streams: must make progress)',
  }),
  queryToken: v.flag(
    'GRID_QUERY_TOKEN',
    true,
    'Accept the access token as query parameter `access_token`',
  ),
  corsOrigins: v.list(
    'GRID_CORS_ORIGINS',
    'Origins whose pages may call the API (all of it but `/oauth2/auth`, to which browsers are led)',
  ),
  logLevel: v.oneOf(
    'GRID_LOG_LEVEL',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
    'Least severe log line that is written',
  ),
  auditRetention: v.integer('GRID_AUDIT_RETENTION', 90, {
    min: 0,
    max: 36_500,
    description:
      'Days for which the lines of the audit trail can be searched in the database (0: none is kept there)',
  }),
  otlpEndpoint: v.optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Base URL of an OpenTelemetry collector (OTLP over HTTP) that gets traces; the SDK heeds its other `OTEL_` variables too, for example `OTEL_TRACES_SAMPLER`',
    { defaultText: 'none: no traces' },
  ),
  otlpHeaders: v.optional(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'Headers for the collector, `name=value,…`',
    { secret: true, defaultText: 'none' },
  ),
  progressTimeout: v.integer('GRID_PROGRESS_TIMEOUT', 15, {
    min: 1,
    max: 600,
    description:
      'Seconds within which a body or an answer under way must move by 1 KiB before its client is cut off',
  }),
  callerConcurrency: v.integer('GRID_CALLER_CONCURRENCY', 32, {
    min: 1,
    max: 10_000,
    description:
      'Requests of one caller (user with application, else address, IPv6: one /64) that are at work at once; further ones wait their turn, then 429',
  }),
  callerFollows: v.integer('GRID_CALLER_FOLLOWS', 8, {
    min: 1,
    max: 10_000,
    description: 'Outputs of running jobs that one user follows at once on this instance; then 429',
  }),
  feedStreams: v.integer('GRID_FEED_STREAMS', 100, {
    min: 1,
    description:
      'Streams of events and long polls of one user that are open at once on an instance',
  }),
  maxConnections: v.integer('GRID_MAX_CONNECTIONS', 10_000, {
    min: 1,
    description: 'Connections at once; further ones are dropped',
  }),
  metricsPort: v.integer('GRID_METRICS_PORT', 0, {
    min: 0,
    max: 65535,
    description:
      'Port of a listener of its own for `/metrics` and the probes, plain HTTP on GRID_HOST, for the inner network; `/metrics` is then nowhere else (0: on the main listener)',
  }),
  shutdownDrain: v.integer('GRID_SHUTDOWN_DRAIN', 0, {
    min: 0,
    max: 600,
    description:
      'Seconds for which a stopping instance says `not ready` but still accepts, until load balancers have noticed',
  }),
  shutdownGrace: v.integer('GRID_SHUTDOWN_GRACE', 20, {
    min: 0,
    max: 600,
    description: 'Seconds that requests under way get to finish at shutdown',
  }),

  // authorization server
  accessTokenTtl: v.integer('GRID_ACCESS_TOKEN_TTL', DAY / 4, {
    min: 1,
    max: 30 * DAY,
    description:
      'Life of an access token, seconds; what a certificate gets ends with it at the latest, and with a storage scope it is 3600 at most',
  }),
  acceptAnyAudience: v.flag(
    'GRID_ACCEPT_ANY_AUDIENCE',
    false,
    'Accept tokens for every service (audience https://wlcg.cern.ch/jwt/v1/any), too',
  ),
  refreshTokenTtl: v.integer('GRID_REFRESH_TOKEN_TTL', 30 * DAY, {
    min: 1,
    description: 'Life of a refresh token, seconds',
  }),
  refreshGrace: v.integer('GRID_REFRESH_GRACE', 30, {
    min: 0,
    max: 600,
    description: 'Seconds in which a used refresh token gives the same successor again',
  }),
  codeTtl: v.integer('GRID_CODE_TTL', 60, {
    min: 1,
    max: 600,
    description: 'Life of an authorization code, seconds',
  }),
  deviceCodeTtl: v.integer('GRID_DEVICE_CODE_TTL', 600, {
    min: 10,
    max: 3600,
    description: 'Life of a device code, seconds',
  }),
  requirePkce: v.oneOf(
    'GRID_REQUIRE_PKCE',
    ['off', 'public', 'all'],
    'off',
    'Refuse authorization requests without an S256 challenge, of public applications or of all; an application with the profile `oauth2.1` or `fapi2` needs one anyway',
  ),
  signingAlgorithm: v.oneOf(
    'GRID_SIGNING_ALG',
    ['ES256', 'EdDSA'],
    'ES256',
    'Algorithm of new signing keys',
  ),
  keyRotation: v.integer('GRID_KEY_ROTATION', 30 * DAY, {
    min: 60,
    description: 'Seconds after which a new signing key takes over',
  }),
  keyEncryptionKey: v.optional(
    'GRID_KEY_ENCRYPTION_KEY',
    'Base64 of 32 bytes; private signing keys are encrypted with it at rest',
    { secret: true, defaultText: 'kept in GRID_HOME/pki for the embedded database' },
  ),
  idProvidersFile: v.optional('GRID_ID_PROVIDERS', 'YAML file of external identity providers', {
    defaultText: 'none',
  }),
  rateToken: v.integer('GRID_RATE_TOKEN', 500, {
    min: 0,
    description:
      'Token requests a second from one address (IPv6: one /64), or of one application that has proved itself; of wrong secrets of one application from one address, too (0: no limit)',
  }),
  rateAuthorize: v.integer('GRID_RATE_AUTHORIZE', 200, {
    min: 0,
    description: 'Authorization requests a second from one address (IPv6: one /64; 0: no limit)',
  }),
  rateSubmit: v.integer('GRID_RATE_SUBMIT', 500, {
    min: 0,
    description: 'Submit requests a second of one user (0: no limit)',
  }),

  // jobs
  globalJobs: v.oneOf(
    'GRID_GLOBAL_JOBS',
    ['vo', 'true', 'false'],
    'vo',
    'Whose records of jobs users see, in lists with `allOwners`, totals, feeds, usage and shares: `vo`: those of their own virtual organisation; `true`: of all; `false`: their own, and those that a property of their group opens',
  ),
  maxJobs: v.integer('GRID_MAX_JOBS', 10_000, { min: 1, description: 'Upper bound of `maxJobs`' }),
  maxManifests: v.integer('GRID_MAX_MANIFESTS', 10_000, {
    min: 1,
    description: 'Manifests in one submit request',
  }),
  maxManifestBytes: v.integer('GRID_MAX_MANIFEST_BYTES', 65_536, {
    min: 256,
    description: 'Bytes of one manifest',
  }),
  maxSubmitBytes: v.integer('GRID_MAX_SUBMIT_BYTES', 16 * 1024 * 1024, {
    min: 1024,
    description:
      'Bytes of manifests that the templates of one submit may make; also of those in one form',
  }),
  maxParametricJobs: v.integer('GRID_MAX_PARAMETRIC_JOBS', 10_000, {
    min: 1,
    description: 'Jobs that one submit request may make',
  }),
  maxSandboxBytes: v.integer('GRID_MAX_SANDBOX', 1024 * 1024 * 1024, {
    min: 1024,
    description: 'Bytes of the files of one sandbox: of one submit, and of the output of one job',
  }),
  maxSandboxFiles: v.integer('GRID_MAX_SANDBOX_FILES', 50, {
    min: 1,
    description: 'Files in one submit request',
  }),
  maxInputData: v.integer('GRID_MAX_INPUT_DATA', 500, {
    min: 0,
    description: 'Files in InputData',
  }),
  maxReschedules: v.integer('GRID_MAX_RESCHEDULES', 3, {
    min: 0,
    description: 'Times that a job may be rescheduled',
  }),
  ...LOCAL_JOBS,
  jobRetention: v.integer('GRID_SANDBOX_RETENTION', 15 * DAY, {
    min: 60,
    description: 'Seconds after which an unassigned sandbox is removed',
  }),
  eventRetention: v.integer('GRID_EVENT_RETENTION', 7 * DAY, {
    min: 1,
    description: 'Seconds for which the feeds of jobs and of the catalogue can be taken up again',
  }),
  sandboxStore: v.text(
    'GRID_SANDBOX_STORE',
    '',
    'Directory, or `s3://bucket/prefix` (empty: `GRID_HOME/sandboxes`)',
  ),
  s3Endpoint: v.optional('GRID_S3_ENDPOINT', 'Endpoint of an S3-compatible store', {
    defaultText: 'AWS',
  }),
  s3Region: v.text('GRID_S3_REGION', 'us-east-1', 'Region of the S3 store'),
  s3AccessKey: v.optional('GRID_S3_ACCESS_KEY', 'Access key of the S3 store', {
    defaultText: 'AWS default chain',
  }),
  s3SecretKey: v.optional('GRID_S3_SECRET_KEY', 'Secret key of the S3 store', {
    secret: true,
    defaultText: 'AWS default chain',
  }),
  s3Presign: v.flag(
    'GRID_S3_PRESIGN',
    false,
    'Answer sandbox downloads with a redirect to a presigned URL',
  ),
  s3Timeout: v.integer('GRID_S3_TIMEOUT', 10, {
    min: 1,
    max: 300,
    description: 'Seconds that one call of the S3 store may take (streams: may be silent)',
  }),
  slurmUrl: v.optional(
    'GRID_SLURM_URL',
    'Base URL of slurmrestd, `http://host:port` or `unix:/path`',
    { defaultText: 'none' },
  ),
  slurmUser: v.text(
    'GRID_SLURM_USER',
    'griduser',
    'Account that runs all batch jobs when GRID_SLURM_ACCOUNTS is not set; otherwise no job gets it',
  ),
  slurmAccounts: v.optional(
    'GRID_SLURM_ACCOUNTS',
    'Account under which a batch job runs: `owner`, the one with the name of its owner; `group`, that of its group; or the name of one for all. ' +
      'A job without such an account fails. The service must be root and have GRID_SLURM_JWT_KEY or a GRID_SLURM_TOKEN of SlurmUser',
    { defaultText: '`GRID_SLURM_USER`' },
  ),
  slurmToken: v.optional('GRID_SLURM_TOKEN', 'JWT for slurmrestd', {
    secret: true,
    defaultText: 'none',
  }),
  slurmTokenKeyFile: v.optional(
    'GRID_SLURM_JWT_KEY',
    'File of the key with which tokens for slurmrestd are signed',
    { defaultText: 'none' },
  ),
  slurmPartition: v.optional('GRID_SLURM_PARTITION', 'Partition of batch jobs', {
    defaultText: "Slurm's default",
  }),
  slurmWorkDir: v.optional(
    'GRID_SLURM_WORKDIR',
    'Directory that the service and the batch nodes share',
    { defaultText: '`GRID_HOME/slurm`' },
  ),

  slurmTimeout: v.integer('GRID_SLURM_TIMEOUT', 30, {
    min: 1,
    max: 300,
    description: 'Seconds that one call of slurmrestd may take',
  }),
  slurmBatch: v.integer('GRID_SLURM_BATCH', 500, {
    min: 1,
    max: 10_000,
    description: "Jobs in one array (at most Slurm's MaxArraySize − 1)",
  }),
  slurmSlots: v.integer('GRID_SLURM_SLOTS', 1_000, {
    min: 1,
    max: 100_000,
    description: 'Jobs that a Slurm site holds at once, waiting in its queue or running',
  }),

  // webhooks
  ...WEBHOOKS,
  ...ENERGY,
  ...DEMO,

  // catalogue
  ...DATA,
  answerSpool: v.integer('GRID_ANSWER_SPOOL', 4 * 1024 * 1024 * 1024, {
    min: 0,
    description:
      'Bytes below `$GRID_HOME/answers` that searches may take whose readers are slower than the database; one answer gets a quarter',
  }),
  catalogueGlobalRead: v.oneOf(
    'GRID_CATALOGUE_GLOBAL_READ',
    ['vo', 'true', 'false'],
    'vo',
    'What is read in the catalogue: `vo`: members of a virtual organisation (VO) read everything below `/<its name>`, where nobody else sees anything; `false`: the same border, within which POSIX bits decide; `true`: everybody with `catalogue:read` reads everything. Elsewhere bits decide with `vo` and `false`',
  ),
} as const;
