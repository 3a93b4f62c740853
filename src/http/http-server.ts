import { mkdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { DynamicModule, INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { sleep } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import {
  NestLogger,
  ownWorkerDirectory,
  ownWorkerSocket,
  type Logger,
  type Metrics,
  type Readiness,
  type Tracing,
} from '#src/runtime/index.js';
import type { TrustedAuthorities } from '#src/x509/index.js';
import { answerClientErrors } from './client-errors.js';
import { Connections } from './connections.js';
import { corsByAllowList } from './cors.js';
import { GridExpressAdapter } from './grid-express.adapter.js';
import { listen, ListenError, reservePort } from './listener.js';
import type { HttpRequest, HttpResponse } from './messages.js';
import { serveMetrics } from './metrics-listener.js';
import { openTls, type OpenedTls } from './open-tls.js';
import { ProblemFilter } from './problem.filter.js';
import { requestMiddleware, RequestsUnderWay } from './request-middleware.js';
import { RouteTable } from './route-table.js';
import { serveSwagger, type SwaggerPage } from './swagger.js';
import { watchLoop, type LoopWatch } from './watch-loop.js';

const MAX_HEADER_BYTES = 32 * 1024;
/** How long a stopping server keeps an idle connection for a request that is already on its way. */
const IDLE_GRACE_MS = 1_000;
/** A body or an answer under way that moves by less within GRID_PROGRESS_TIMEOUT is cut off. */
const LEAST_PROGRESS_BYTES = 1024;

/** What the process has opened before its HTTP server. */
interface HttpServerParts {
  config: Config;
  logger: Logger;
  metrics: Metrics;
  readiness: Readiness;
  tracing: Tracing;
}

/** What depends on the application. */
interface ApplicationRules {
  /** Long JSON answers below these may be compressed: none of them carries a token, a code or a secret. */
  compressedBelow: readonly string[];
  /** No page of another origin calls what stands below. */
  closedToPages: string;
  description: Omit<SwaggerPage, 'publicUrl'>;
}

/** The HTTP side of a process: TLS, the listener with its connections, and what each request passes before its route. */
export class HttpServer {
  private connections: Connections | undefined;
  private loop: LoopWatch | undefined;
  private closeMetrics: (() => Promise<void>) | undefined;
  private ownWorkerServer: Server | undefined;

  private constructor(
    private readonly parts: HttpServerParts,
    private readonly tls: OpenedTls,
  ) {}

  /** A free port of the address, kept for the server that listens on it: nobody can take it between the two. */
  static reservePort(host: string): Promise<number> {
    return reservePort(host);
  }

  /** Opens TLS; throws with a message that names the variable. */
  static async open(parts: HttpServerParts, pkiDirectory: string): Promise<HttpServer> {
    const { config, logger } = parts;
    const tls = await openTls(config, pkiDirectory, (line, level) => logger[level](line));
    return new HttpServer(parts, tls);
  }

  /** Who is trusted to issue client certificates. */
  get authorities(): TrustedAuthorities {
    return this.tls.authorities;
  }

  /** Makes the application of the module; it is not listening and not initialised yet. */
  async create(module: DynamicModule, rules: ApplicationRules): Promise<INestApplication> {
    const { config, logger } = this.parts;
    const adapter = new GridExpressAdapter({
      tls: this.tls.serverOptions,
      maxHeaderBytes: MAX_HEADER_BYTES,
      requestTimeoutSeconds: config.requestTimeout,
      compressedBelow: rules.compressedBelow,
    });
    const app = await NestFactory.create(module, adapter, {
      logger: new NestLogger(logger),
      bodyParser: false,
      abortOnError: false,
    });
    const problems = app.get(ProblemFilter);
    app.useGlobalFilters(problems);
    const underWay = new RequestsUnderWay();
    this.loop = watchLoop(this.parts, underWay);
    app.use(requestMiddleware({ ...this.parts, problems, underWay }));
    if (config.corsOrigins.length > 0) {
      app.use(corsByAllowList(config.corsOrigins, rules.closedToPages));
    }
    app.use(
      app.get(RouteTable).guard((problem, ...exchange) => problems.answer(problem, ...exchange)),
    );
    this.ownWorkerServer = adapter.ownWorkerServer;
    this.connections = this.watchConnections(app.getHttpServer() as Server, problems);
    serveSwagger(app, { ...rules.description, publicUrl: config.publicUrl });
    return app;
  }

  /** Listens where the configuration says, or rejects with a message that names port, address and cause. */
  async listen(listener: Server): Promise<void> {
    await listen(listener, this.parts.config);
  }

  /**
   * Listens for the service's own worker on a Unix socket in a directory of GRID_HOME that only this account may enter: whoever can
   * open it needs no token. Rejects with ListenError where none can be made.
   */
  async listenForOwnWorker(home: string): Promise<void> {
    await mkdir(ownWorkerDirectory(home), { recursive: true, mode: 0o700 });
    const path = ownWorkerSocket(home);
    try {
      await rm(path, { force: true }); // of a service that was killed
      await new Promise<void>((resolve, reject) => {
        this.ownWorkerServer?.once('error', reject).listen(path, resolve);
      });
    } catch (cause) {
      const { code = 'unusable' } = cause as NodeJS.ErrnoException;
      const text = `GRID_HOME: no socket can be made in ${ownWorkerDirectory(home)} (${code})`;
      const advice = 'put GRID_HOME on a local disk, or set GRID_LOCAL_EXECUTOR=false';
      throw new ListenError(`${text}: ${advice}`, { cause });
    }
  }

  /** Ends that socket: the worker knows by it that the service has ended as it should. */
  closeForOwnWorker(): Promise<void> {
    return new Promise((resolve) => {
      this.ownWorkerServer?.close(() => resolve());
      this.ownWorkerServer?.closeAllConnections();
    });
  }

  /** Metrics and probes on their own port, where one is configured. */
  async listenForMetrics(): Promise<void> {
    const { config, metrics, readiness } = this.parts;
    if (config.metricsPort === 0) return;
    const at = { host: config.host, port: config.metricsPort };
    this.closeMetrics = await serveMetrics(at, metrics, readiness);
  }

  /** From now on requests are answered, and stalls of the event loop measured. */
  begin(): void {
    this.parts.readiness.start();
    this.loop?.start();
  }

  /**
   * Says `not ready` and goes on answering until load balancers have noticed (GRID_SHUTDOWN_DRAIN), then has the streams
   * ended, stops accepting and lets every request finish. Nothing that a request needs has been closed yet.
   */
  async drain(endStreams: () => void): Promise<void> {
    const { connections } = this;
    const { readiness, config } = this.parts;
    if (!connections) return;
    const wasReady = readiness.started;
    readiness.drain();
    connections.retire();
    if (wasReady) await sleep(config.shutdownDrain * 1000);
    endStreams();
    await connections.drain({ graceMs: config.shutdownGrace * 1000, idleMs: IDLE_GRACE_MS });
    this.loop?.stop();
  }

  /** Ends the listener of metrics and the look at the files of trusted authorities. */
  async close(): Promise<void> {
    await this.closeMetrics?.();
    await this.tls.close();
  }

  private watchConnections(listener: Server, problems: ProblemFilter): Connections {
    const { config, metrics, logger } = this.parts;
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
    const text = 'Connections cut off, by reason';
    const cuts = metrics.counter('gridgate_connections_cut_total', text, ['reason']);
    connections.onCut = (reason) => cuts.inc({ reason });
    metrics.gauge('gridgate_connections', 'Open connections', [], (gauge) =>
      gauge.set(connections.count),
    );
    return connections;
  }
}
