import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { ADMINISTRATION_PATH_PARAMETERS } from '../administration/index.js';
import { AUTH_PATH_PARAMETERS, AUTH_SCHEMAS, SCOPE_TEXT, SCOPES } from '../auth/index.js';
import {
  CATALOGUE_PATH_PARAMETERS,
  CATALOGUE_SCHEMAS,
  CLOSED_CATALOGUE_BODIES,
} from '../file-catalogue/index.js';
import { JOB_PATH_PARAMETERS, JOB_SCHEMAS } from '../jobs/index.js';
import { sleep } from '../kernel/index.js';
import { checkReadiness, prepareData } from './start-data.js';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../embedded-postgres/index.js';
import { configuredDatabase, type Config, type DatabaseConnection } from '#src/config/index.js';
import { whenDatabaseIsThere } from '#src/database/index.js';
import { Streams } from '#src/events/index.js';
import {
  answerClientErrors,
  Connections,
  corsByAllowList,
  requestMiddleware,
  GridExpressAdapter,
  listen,
  openApiDocument,
  openTls,
  ProblemFilter,
  RequestsUnderWay,
  RouteTable,
  serveMetrics,
  serveSwagger,
  watchLoop,
  type HttpRequest,
  type HttpResponse,
  type LoopWatch,
  type OpenedTls,
} from '#src/http/index.js';
import {
  Metrics,
  NestLogger,
  openHome,
  type GridHome,
  type Readiness,
} from '#src/runtime/index.js';
import { readBuiltDocument } from './built-document.js';
import { WEBHOOK_PATH_PARAMETERS } from '../webhooks/index.js';
import { servePortal } from './portal-site.js';
import { FirstProcess, LISTENER_FD, processCount, ServingProcesses } from './serving-processes.js';
import { createRuntime, type Runtime } from './runtime.js';
import { version } from './version.js';

/** Lists and documents; never /oauth2, whose answers carry tokens, codes and what protects forms. */
const COMPRESSED_BELOW = ['/jobs', '/filecatalogue', '/.well-known'];
/** Browsers are led here, and no page of another origin calls it (FAPI 2.0 Security Profile 5.2.3). */
const AUTHORIZATION_PATH = '/oauth2/auth';
const MAX_HEADER_BYTES = 32 * 1024;
/** How long a stopping server keeps an idle connection for a request that is already on its way. */
const IDLE_GRACE_MS = 1_000;
/** So long requests wait for the start; no longer than a start without a wait for the database ought to take. */
const START_PATIENCE_MS = 10_000;
/** A body or an answer under way that moves by less within GRID_PROGRESS_TIMEOUT is cut off. */
const LEAST_PROGRESS_BYTES = 1024;

/**
 * One server process: home and listener first (so that a second instance or a used port fails at once), then
 * database, migrations, application and data. `stop` undoes in reverse what has been opened, also after a start
 * that failed half-way.
 */
export class GridServer {
  private readonly opened: (() => Promise<unknown>)[] = [];
  private readonly cancel = new AbortController();
  private embedded: DatabaseConnection | undefined;
  private connections: Connections | undefined;
  private readiness: Readiness | undefined;
  private streams: Streams | undefined;
  private stalls: LoopWatch | undefined;

  private processes: ServingProcesses | undefined;

  /**
   * `number`: of a process that only serves, beside a first one (GRID_PROCESSES); `log`: what gets the lines of the log, by
   * default standard error.
   */
  constructor(
    private readonly config: Config,
    private readonly number = 0,
    private readonly log?: { write(line: string): void },
  ) {}

  /** Starts and resolves when the server is ready. Throws with a message for people. */
  async start(): Promise<void> {
    const { config } = this;
    const home = await openHome(config.homePath);
    if (this.number === 0) {
      const lock = await home.lockForServer();
      this.opened.push(() => lock.release());
    }
    const runtime = createRuntime(config, () => this.connection(), { log: this.log });
    await startTracing(runtime);
    this.opened.push(() => runtime.tracing.stop());
    const tls = await openTls(config, home.pki, (line, level) => runtime.logger[level](line));
    this.opened.push(() => tls.close());
    const app = await this.createApplication(runtime, tls);
    const listener = app.getHttpServer() as Server;
    if (this.number === 0) await listen(listener, config);
    const late = setTimeout(() => runtime.readiness.delay(), START_PATIENCE_MS).unref();
    await this.openMetrics(runtime);
    await this.startDatabase(home, runtime);
    await app.init();
    this.opened.push(() => app.close());
    const adapter = app.getHttpAdapter() as GridExpressAdapter;
    app.get(RouteTable).read(adapter.routerOwner());
    await whenDatabaseIsThere(() => prepareData(app, config), runtime.waitFor(this.cancel.signal));
    checkReadiness(runtime);
    clearTimeout(late);
    runtime.readiness.start();
    this.stalls?.start();
    if (this.number === 0) await this.startOthers(runtime, listener);
    else await this.serveBeside(runtime, listener);
  }

  /** Stops accepting, lets requests finish, hands back leases, stops the embedded database. */
  async stop(): Promise<void> {
    this.cancel.abort(new Error('the server is stopping'));
    await Promise.all([this.processes?.stop(), this.drain()]);
    this.stalls?.stop();
    for (const step of this.opened.splice(0).reverse()) await step();
  }

  /**
   * Says `not ready` and goes on answering until load balancers have noticed (GRID_SHUTDOWN_DRAIN), then stops
   * accepting and lets every request finish. Nothing that a request needs has been closed yet.
   */
  private async drain(): Promise<void> {
    const { connections, readiness, config } = this;
    if (!connections) return;
    const wasReady = readiness?.started === true;
    readiness?.drain();
    connections.retire();
    if (wasReady) await sleep(config.shutdownDrain * 1000);
    this.streams?.end();
    await connections.drain({ graceMs: config.shutdownGrace * 1000, idleMs: IDLE_GRACE_MS });
  }

  /** The first process starts the others when all is as they will find it. */
  private async startOthers({ metrics, logger }: Runtime, listener: Server): Promise<void> {
    const { config } = this;
    const count = processCount(config);
    if (count === 1) return;
    const environment = { GRID_ROLE: 'api', GRID_PORT: String(config.port) };
    const allMetrics = async (): Promise<string> =>
      Metrics.textOf([[0, await metrics.values()], ...(await processes.metrics())]);
    const processes = new ServingProcesses({ listener, logger, environment, allMetrics });
    this.processes = processes;
    metrics.whole = allMetrics;
    await processes.start(count - 1);
    logger.info({ processes: count }, 'several processes serve the port');
  }

  private async serveBeside({ metrics }: Runtime, listener: Server): Promise<void> {
    const first = new FirstProcess(() => metrics.values());
    metrics.whole = () => first.allMetrics();
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen({ fd: LISTENER_FD }, () => resolve());
    });
    first.ready();
  }

  private async openMetrics({ config, metrics, readiness }: Runtime): Promise<void> {
    if (config.metricsPort === 0 || this.number > 0) return;
    const at = { host: config.host, port: config.metricsPort };
    this.opened.push(await serveMetrics(at, metrics, readiness));
  }

  private connection(): DatabaseConnection {
    const configured = configuredDatabase(this.config);
    if (configured !== undefined) return configured;
    if (!this.embedded) throw new Error('the embedded database is not started');
    return this.embedded;
  }

  private async startDatabase(home: GridHome, runtime: Runtime): Promise<void> {
    if (this.config.databaseUrl === undefined && this.number > 0) {
      this.embedded = await runningEmbeddedPostgres({ home: home.path });
    } else if (this.config.databaseUrl === undefined) {
      const log = (line: string): void => runtime.logger.info({ part: 'postgres' }, line);
      const postgres = await startEmbeddedPostgres({ home: home.path, log });
      this.embedded = postgres.connection;
      this.opened.push(() => postgres.stop());
    }
    this.opened.push(() => runtime.close());
    await runtime.connect(this.cancel.signal);
  }

  private async createApplication(runtime: Runtime, tls: OpenedTls): Promise<INestApplication> {
    const { config } = this;
    const { logger, metrics, readiness, tracing } = runtime;
    const adapter = new GridExpressAdapter({
      tls: tls.serverOptions,
      maxHeaderBytes: MAX_HEADER_BYTES,
      requestTimeoutSeconds: config.requestTimeout,
      compressedBelow: COMPRESSED_BELOW,
    });
    const module = AppModule.forRoot({ ...runtime, authorities: tls.authorities });
    const app = await NestFactory.create(module, adapter, {
      logger: new NestLogger(logger),
      bodyParser: false,
      abortOnError: false,
    });
    const problems = app.get(ProblemFilter);
    app.useGlobalFilters(problems);
    const underWay = new RequestsUnderWay();
    this.stalls = watchLoop(runtime, underWay);
    app.use(requestMiddleware({ config, logger, metrics, readiness, tracing, problems, underWay }));
    app.use(corsByAllowList(config.corsOrigins, AUTHORIZATION_PATH));
    const routes = app.get(RouteTable);
    app.use(routes.guard((problem, ...exchange) => problems.answer(problem, ...exchange)));
    this.readiness = readiness;
    this.streams = app.get(Streams);
    this.connections = watchConnections(app, { config, runtime, problems });
    servePortal(app, config);
    serveSwagger(app, () => openApiOf(app, config), {
      publicUrl: config.publicUrl,
      scopes: SCOPES,
      forms: readBuiltDocument(config.publicUrl),
    });
    return app;
  }
}

/** Traces go to the collector that is configured; without one nothing is loaded. */
async function startTracing({ config, logger, tracing }: Runtime): Promise<void> {
  if (config.otlpEndpoint === undefined) return;
  await tracing.start({
    endpoint: config.otlpEndpoint,
    serviceVersion: version(),
    log: (message) => logger.debug({ part: 'tracing' }, message),
  });
  logger.info({ part: 'tracing' }, 'traces are sent to the collector');
}

function watchConnections(
  app: INestApplication,
  { config, runtime, problems }: { config: Config; runtime: Runtime; problems: ProblemFilter },
): Connections {
  const { metrics, logger } = runtime;
  const listener = app.getHttpServer() as Server;
  answerClientErrors(listener, ({ code }, requestId) =>
    logger.warn({ requestId, code }, 'refused'),
  );
  const limits = {
    maxConnections: config.maxConnections,
    progressMs: config.progressTimeout * 1000,
    leastBytes: LEAST_PROGRESS_BYTES,
  };
  const connections = new Connections(listener, limits, (problem, request, response) =>
    problems.answer(problem, request as HttpRequest, response as HttpResponse),
  );
  const cuts = metrics.counter('gridgate_connections_cut_total', 'Connections cut off, by reason', [
    'reason',
  ]);
  connections.onCut = (reason) => cuts.inc({ reason });
  metrics.gauge('gridgate_connections', 'Open connections', [], (gauge) =>
    gauge.set(connections.count),
  );
  return connections;
}

/** Paths of pages for people in the OpenAPI document. */
const PAGES = /^\/oauth2\/(auth|device|login|callback|applications|logout)(\/|$)/;

const PATH_PARAMETERS = {
  ...ADMINISTRATION_PATH_PARAMETERS,
  ...AUTH_PATH_PARAMETERS,
  ...CATALOGUE_PATH_PARAMETERS,
  ...JOB_PATH_PARAMETERS,
  ...WEBHOOK_PATH_PARAMETERS,
};

/** The OpenAPI document of the application. */
export function openApiOf(
  app: INestApplication,
  config: Config,
): ReturnType<typeof openApiDocument> {
  const schemas = { ...AUTH_SCHEMAS, ...CATALOGUE_SCHEMAS, ...JOB_SCHEMAS };
  const { publicUrl } = config;
  return openApiDocument(app, {
    version: version(),
    publicUrl,
    scopes: SCOPE_TEXT,
    schemas,
    closed: [...CLOSED_CATALOGUE_BODIES, 'ManifestsRequest'],
    pages: PAGES,
    pathParameters: PATH_PARAMETERS,
  });
}
