import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { AppModule } from '../app.module.js';
import { AUTH_SCHEMAS, SCOPE_TEXT, SCOPES } from '../auth/index.js';
import { CATALOGUE_SCHEMAS } from '../file-catalogue/index.js';
import { JOB_SCHEMAS } from '../jobs/index.js';
import { checkReadiness, prepareData } from './start-data.js';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../embedded-postgres/index.js';
import { configuredDatabase, type Config, type DatabaseConnection } from '#src/config/index.js';
import { whenDatabaseIsThere } from '#src/database/index.js';
import { Streams } from '#src/events/index.js';
import { HttpServer, openApiDocument } from '#src/http/index.js';
import { Metrics, openHome, type GridHome } from '#src/runtime/index.js';
import { readBuiltDocument } from './built-document.js';
import { servePortal } from './portal-site.js';
import { FirstProcess, LISTENER_FD, processCount, ServingProcesses } from './serving-processes.js';
import { createRuntime, type Runtime } from './runtime.js';
import { version } from './version.js';

/** Lists and documents; never /oauth2, whose answers carry tokens, codes and what protects forms. */
const COMPRESSED_BELOW = ['/jobs', '/filecatalogue', '/.well-known'];
/** Browsers are led here, and no page of another origin calls it (FAPI 2.0 Security Profile 5.2.3). */
const AUTHORIZATION_PATH = '/oauth2/auth';
/** So long requests wait for the start; no longer than a start without a wait for the database ought to take. */
const START_PATIENCE_MS = 10_000;

/**
 * One server process: home and listener first (so that a second instance or a used port fails at once), then
 * database, migrations, application and data. `stop` undoes in reverse what has been opened, also after a start
 * that failed half-way.
 */
export class GridServer {
  private readonly opened: (() => Promise<unknown>)[] = [];
  private readonly cancel = new AbortController();
  private embedded: DatabaseConnection | undefined;
  private http: HttpServer | undefined;
  private streams: Streams | undefined;
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
    const http = await HttpServer.open(runtime, home.pki);
    this.http = http;
    this.opened.push(() => http.close());
    const app = await this.createApplication(runtime, http);
    const listener = app.getHttpServer() as Server;
    if (this.number === 0) await http.listen(listener);
    const late = setTimeout(() => runtime.readiness.delay(), START_PATIENCE_MS).unref();
    if (this.number === 0) await http.listenForMetrics();
    if (this.hasOwnWorker) {
      await http.listenForOwnWorker(home.path);
      this.opened.push(() => http.closeForOwnWorker());
    }
    await this.startDatabase(home, runtime);
    await app.init();
    this.opened.push(async () => {
      await app.close();
      if (this.hasOwnWorker) await http.closeForOwnWorker();
    });
    await whenDatabaseIsThere(() => prepareData(app, config), runtime.waitFor(this.cancel.signal));
    checkReadiness(runtime);
    clearTimeout(late);
    http.begin();
    if (this.number === 0) await this.startOthers(runtime, listener);
    else await this.serveBeside(runtime, listener);
  }

  private get hasOwnWorker(): boolean {
    const { allowLocalExecutor, role } = this.config;
    return this.number === 0 && allowLocalExecutor && role !== 'api';
  }

  /** Stops accepting, lets requests finish, hands back leases, stops the embedded database. */
  async stop(): Promise<void> {
    this.cancel.abort(new Error('the server is stopping'));
    await Promise.all([this.processes?.stop(), this.http?.drain(() => this.streams?.end())]);
    for (const step of this.opened.splice(0).reverse()) await step();
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

  private async createApplication(runtime: Runtime, http: HttpServer): Promise<INestApplication> {
    const { config } = this;
    const module = AppModule.forRoot({ ...runtime, authorities: http.authorities });
    const app = await http.create(module, {
      compressedBelow: COMPRESSED_BELOW,
      closedToPages: AUTHORIZATION_PATH,
      description: {
        describe: (made) => openApiOf(made, config),
        scopes: SCOPES,
        forms: readBuiltDocument(config.publicUrl),
      },
    });
    this.streams = app.get(Streams);
    servePortal(app, config);
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
  });
}
