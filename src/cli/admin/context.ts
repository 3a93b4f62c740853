import 'reflect-metadata';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../../app.module.js';
import {
  hasEmbeddedPostgres,
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../embedded-postgres/index.js';
import {
  configuredDatabase,
  readConfig,
  type Config,
  type DatabaseConnection,
} from '#src/config/index.js';
import { openTls } from '#src/http/index.js';
import { createLogger, createFileLogger, openHome } from '#src/runtime/index.js';
import { createRuntime } from '../../app/runtime.js';
import { commandsWith } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';

/**
 * What administrator commands work with: the configuration, and the application's services on the same database as
 * a server that may be running (or on the embedded database, started for the command when no server runs).
 */
export class CliContext {
  private readonly opened: (() => Promise<unknown>)[] = [];
  private app: Promise<INestApplicationContext> | undefined;
  private read: Config | undefined;

  /** `mayMake`: where there is no database, the command makes one. */
  constructor(private readonly mayMake = false) {}

  /** The configuration of the environment. Throws ConfigurationFault. */
  get config(): Config {
    return (this.read ??= readConfig(process.env));
  }

  /** The services, made once; nothing listens and no background work runs. */
  application(): Promise<INestApplicationContext> {
    return (this.app ??= this.open());
  }

  /** One of the services. */
  async get<T>(service: Type<T>): Promise<T> {
    return (await this.application()).get(service);
  }

  /** Ends what the command has opened. */
  async close(): Promise<void> {
    for (const step of this.opened.splice(0).reverse()) await step();
  }

  private async open(): Promise<INestApplicationContext> {
    const { config } = this;
    const logger = createLogger(
      process.env['GRID_LOG_LEVEL'] === undefined ? 'error' : config.logLevel,
    );
    const connection = await this.connection(); // first: without a database nothing is made
    const home = await openHome(config.homePath);
    // Commands say on the terminal what they do; their audit trail is a file.
    const trail = {
      logger: createFileLogger(join(home.logs, 'audit.log')),
      origin: { account: userInfo().username },
    };
    const runtime = createRuntime(config, () => connection, { logger, trail });
    const tls = await openTls(config, home.pki);
    this.opened.push(() => tls.close());
    this.opened.push(() => runtime.close());
    await runtime.connect(AbortSignal.timeout(30_000));
    const module = AppModule.forRoot({ ...runtime, authorities: tls.authorities });
    return NestFactory.create(module, { logger: false, bodyParser: false, abortOnError: false });
  }

  /**
   * How to reach the database: the one that is named, or the embedded one, started for the command when none runs. Throws CommandError
   * where there is none.
   */
  async connection(): Promise<DatabaseConnection> {
    const { homePath } = this.config;
    const configured = configuredDatabase(this.config);
    if (configured !== undefined) return configured;
    const running = await runningEmbeddedPostgres({ home: homePath });
    if (running) return running;
    if (!this.mayMake && !(await hasEmbeddedPostgres({ home: homePath }))) {
      const text = `there is no Gridgate in ${homePath}: this command works on the database of a service`;
      throw new CommandError(text, 2, 'set GRID_HOME or DATABASE_URL');
    }
    const postgres = await startEmbeddedPostgres({ home: homePath });
    this.opened.push(() => postgres.stop());
    return postgres.connection;
  }
}

const shared = new CliContext();
const maker = new CliContext(true);

/** Ends what the commands of this process have opened. */
export async function closeContexts(): Promise<void> {
  await shared.close();
  await maker.close();
}

/** A command on the database of the service. */
export const onService = commandsWith<CliContext>((work) => work(shared));

/** The same for what is done before the first start: it makes the embedded database where there is none. */
export const onNewService = commandsWith<CliContext>((work) => work(maker));
