import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { SCOPES } from './auth/index.js';
import { checkReadiness, prepareData } from './start-data.js';
import {
  closeListener,
  corsByAllowList,
  entrance,
  GridExpressAdapter,
  listen,
  NestLogger,
  openApiDocument,
  openHome,
  openTls,
  ProblemFilter,
  RouteTable,
  serveSwagger,
  startEmbeddedPostgres,
  type Config,
  type DatabaseConnection,
  type EmbeddedPostgres,
  type GridHome,
  type OpenedTls,
} from './platform/index.js';
import { createRuntime, type Runtime } from './runtime.js';
import { version } from './version.js';

const MAX_HEADER_BYTES = 32 * 1024;

/**
 * One server process: home and listener first (so that a second instance or a used port fails at once), then
 * database, migrations, application and data. `stop` undoes in reverse what has been opened, also after a start
 * that failed half-way.
 */
export class GridServer {
  private readonly opened: (() => Promise<unknown>)[] = [];
  private readonly routes = new RouteTable();
  private readonly cancel = new AbortController();
  private postgres: EmbeddedPostgres | undefined;

  constructor(private readonly config: Config) {}

  /** Starts and resolves when the server is ready. Throws with a message for people. */
  async start(): Promise<void> {
    const { config } = this;
    const home = await openHome(config.homePath);
    const lock = await home.lockForServer();
    this.opened.push(() => lock.release());
    const tls = await openTls(config, home.pki);
    this.opened.push(() => tls.close());
    const runtime = createRuntime(config, () => this.connection());
    const app = await this.createApplication(runtime, tls);
    const listener = app.getHttpServer() as Server;
    await listen(listener, config);
    this.opened.push(() => closeListener(listener, config.shutdownGrace));
    await this.startDatabase(home, runtime);
    await app.init();
    this.opened.push(() => app.close());
    this.routes.read(app.getHttpAdapter().getInstance());
    await prepareData(app, config);
    checkReadiness(runtime);
    runtime.readiness.started = true;
    this.opened.push(() => Promise.resolve(runtime.readiness.drain()));
  }

  /** Stops accepting, lets requests finish, hands back leases, stops the embedded database. */
  async stop(): Promise<void> {
    this.cancel.abort(new Error('the server is stopping'));
    for (const step of this.opened.splice(0).reverse()) await step();
  }

  private connection(): DatabaseConnection {
    if (this.config.databaseUrl !== undefined) return { url: this.config.databaseUrl };
    if (!this.postgres) throw new Error('the embedded database is not started');
    return this.postgres.connection;
  }

  private async startDatabase(home: GridHome, runtime: Runtime): Promise<void> {
    if (this.config.databaseUrl === undefined) {
      const log = (line: string): void => runtime.logger.info({ part: 'postgres' }, line);
      this.postgres = await startEmbeddedPostgres({ home: home.path, log });
      const { postgres } = this;
      this.opened.push(() => postgres.stop());
    }
    this.opened.push(() => runtime.close());
    await runtime.connect(this.cancel.signal);
  }

  private async createApplication(runtime: Runtime, tls: OpenedTls): Promise<INestApplication> {
    const { config } = this;
    const { logger, metrics, readiness } = runtime;
    const adapter = new GridExpressAdapter({
      tls: tls.serverOptions,
      maxHeaderBytes: MAX_HEADER_BYTES,
      requestTimeoutSeconds: config.requestTimeout,
    });
    const module = AppModule.forRoot({ ...runtime, authorities: tls.authorities });
    const app = await NestFactory.create(module, adapter, {
      logger: new NestLogger(logger),
      bodyParser: false,
      abortOnError: false,
    });
    const problems = new ProblemFilter(logger, this.routes);
    app.useGlobalFilters(problems);
    app.use(entrance({ config, logger, metrics, readiness, problems }));
    app.use(corsByAllowList(config.corsOrigins));
    serveSwagger(app, () => openApiOf(app, config), config.publicUrl);
    return app;
  }
}

/** The OpenAPI document of the application. */
export function openApiOf(
  app: INestApplication,
  config: Config,
): ReturnType<typeof openApiDocument> {
  const scopes = Object.fromEntries(SCOPES.map((scope) => [scope, scope]));
  return openApiDocument(app, { version: version(), publicUrl: config.publicUrl, scopes });
}
