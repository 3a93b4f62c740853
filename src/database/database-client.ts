import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import pg from 'pg';
import { DatabaseConnectionError, explainConnection } from './connection-error.js';
import {
  parseDatabaseUrl,
  type DatabaseAddress,
  type DatabaseConnection,
  type DatabaseTls,
} from '#src/config/index.js';
import type {} from './pg-internals.js';

/** An address, and the variable that people have set it by. */
export interface DatabaseTarget {
  variable: string;
  address: DatabaseAddress;
  /** A pooler stands there: it knows neither settings of a session nor prepared statements. */
  isPooled: boolean;
}

/** Where statements and transactions go: through the pooler, if there is one. */
export function pooledTarget(connection: DatabaseConnection): DatabaseTarget {
  return target(connection, 'DATABASE_URL', connection.url);
}

/** Where a session belongs to its client alone (LISTEN, session locks): past the pooler. */
export function directTarget(connection: DatabaseConnection): DatabaseTarget {
  const { directUrl } = connection;
  if (directUrl === undefined) return pooledTarget(connection);
  const direct = target(connection, 'GRID_DATABASE_DIRECT_URL', directUrl);
  return { ...direct, isPooled: false };
}

function target(
  connection: DatabaseConnection,
  variable: string,
  url: string | undefined,
): DatabaseTarget {
  if (url !== undefined) {
    const isPooled = connection.directUrl !== undefined;
    return { variable, address: parseDatabaseUrl(url), isPooled };
  }
  const { host = '', port = 5432, user = '', password, database = user } = connection;
  const address = { host, port, user, password, database, tls: { mode: 'disable' as const } };
  return { variable: 'the embedded database', address, isPooled: false };
}

/** What a connection is for. */
export interface DatabaseClientOptions {
  /** application_name; at the server administrators see it. */
  name: string;
  connectTimeoutSeconds: number;
  /** Seconds after which a statement is given up; none for LISTEN and waiting for locks. */
  statementTimeoutSeconds?: number;
  types?: pg.CustomTypesConfig;
}

/** Planner settings of every session: short statements gain nothing from either. */
export const SESSION_SETTINGS: Record<string, string> = {
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};
/** A transaction that its client has left open ends after so long, with its locks. */
export const IDLE_IN_TRANSACTION_MS = 60_000;
/** A statement's answer may be so much longer on its way than the server may work on it. */
const ANSWER_GRACE_MS = 2_000;
/** A connection attempt is looked at so often. */
const CONNECT_LOOK_MS = 100;

/**
 * The one way of this service to connect to PostgreSQL. A failure to connect is a DatabaseConnectionError.
 *
 * A connection that dies while nobody waits for an answer (between two statements of a transaction, or on its way to or
 * from the pool) says so by an event, and an event that nobody hears ends the process; the next statement on it fails
 * in any case.
 *
 * Connecting has a bound of its own, as the pool's is that of waiting for a connection: a busy database is not one that
 * is away. It is counted in looks, not by the clock, so that a process that was too busy to hear the answer (hundreds
 * of TLS handshakes at once) does not give up on a database that has answered.
 */
export class DatabaseClient extends pg.Client {
  private readonly fault: Error | undefined;

  constructor(
    private readonly target: DatabaseTarget,
    options: DatabaseClientOptions,
  ) {
    const socket = new Socket();
    const tls = tlsOptions(target);
    super({ ...configuration(target, options), ...tls.options(socket) });
    this.fault = tls.fault;
    this.on('error', () => undefined);
    if (!this.fault) this.boundConnecting(socket, options.connectTimeoutSeconds);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
    const connected = this.fault ? Promise.reject(this.fault) : super.connect();
    const explained = connected.catch((error: unknown) => {
      throw error instanceof DatabaseConnectionError
        ? error
        : explainConnection(error as Error, this.target);
    });
    if (callback === undefined) return explained;
    // The driver's pool calls it outside of promises: an exception of its own is no rejection of ours.
    explained.then(
      () => process.nextTick(callback),
      (error: unknown) => process.nextTick(callback, error as Error),
    );
  }

  /** The time zone is the one setting of a session that PgBouncer keeps for its client. */
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), TimeZone: 'UTC' };
  }

  private boundConnecting(socket: Socket, seconds: number): void {
    let left = Math.ceil((seconds * 1000) / CONNECT_LOOK_MS);
    const looking = setInterval(() => {
      left -= 1;
      if (left <= 0) socket.destroy(new Error('timeout expired'));
    }, CONNECT_LOOK_MS);
    looking.unref();
    const done = (): void => clearInterval(looking);
    this.once('connect', done);
    socket.once('close', done);
  }
}

/** The client that the driver's pool makes its connections of; what the pool would tell it is known here already. */
export function clientOfPool(
  target: () => DatabaseTarget,
  options: DatabaseClientOptions,
): new () => pg.Client {
  return class extends DatabaseClient {
    constructor() {
      super(target(), options);
    }
  };
}

function configuration(
  { address, isPooled }: DatabaseTarget,
  options: DatabaseClientOptions,
): pg.ClientConfig {
  const { host, port, user, password, database } = address;
  const statementTimeout = (options.statementTimeoutSeconds ?? 0) * 1000;
  const settings = Object.entries(SESSION_SETTINGS).map(([name, value]) => `-c ${name}=${value}`);
  return {
    host,
    port,
    user,
    ...(password === undefined ? {} : { password }),
    database,
    application_name: options.name,
    connectionTimeoutMillis: 0,
    keepAlive: true,
    ...(options.types ? { types: options.types } : {}),
    ...(statementTimeout > 0 ? { query_timeout: statementTimeout + ANSWER_GRACE_MS } : {}),
    ...(isPooled
      ? {}
      : {
          options: settings.join(' '),
          ...(statementTimeout > 0 ? { statement_timeout: statementTimeout } : {}),
          idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
        }),
  };
}

interface TlsParts {
  options(socket: Socket): pg.ClientConfig & { connection?: pg.Connection };
  /** Files that cannot be read; the pool wants to hear of it when it connects, not when it makes a client. */
  fault?: Error;
}

/** Files are read for every connection: certificates are renewed while the service runs. */
function tlsOptions({ variable, address }: DatabaseTarget): TlsParts {
  const { mode } = address.tls;
  if (mode === 'disable') return { options: (socket) => ({ ssl: false, stream: () => socket }) };
  try {
    const ssl = {
      ...readFiles(address.tls),
      rejectUnauthorized: mode.startsWith('verify') || address.tls.sslrootcert !== undefined,
      ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
    };
    if (mode !== 'prefer') return { options: (socket) => ({ ssl, stream: () => socket }) };
    return {
      options: (socket) => ({ ssl, connection: new OptionalTlsConnection(socket, ssl) }),
    };
  } catch (error) {
    const fault = new DatabaseConnectionError(`${variable}: ${(error as Error).message}`, true);
    return { options: (socket) => ({ ssl: false, stream: () => socket }), fault };
  }
}

function readFiles(tls: DatabaseTls): {
  ca?: string;
  cert?: string;
  key?: string;
  passphrase?: string;
} {
  const read = (name: 'sslrootcert' | 'sslcert' | 'sslkey'): string | undefined => {
    const path = tls[name];
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(`the file ${path} of ${name} cannot be read (${code})`, { cause: error });
    }
  };
  const [ca, cert, key] = [read('sslrootcert'), read('sslcert'), read('sslkey')];
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(tls.sslpassword === undefined ? {} : { passphrase: tls.sslpassword }),
  };
}

/** The driver's connection, as far as its types do not tell. */
/**
 * `sslmode=prefer`: asks for TLS and goes on without it when the server has none, which the driver takes for a failure
 * (protocol: PostgreSQL manual, 54.2.12, the answer to SSLRequest is one byte, `S` or `N`).
 */
class OptionalTlsConnection extends pg.Connection {
  constructor(socket: Socket, ssl: object) {
    super({ stream: () => socket, ssl, keepAlive: true });
  }

  override connect(port: number | string, host?: string): void {
    super.connect(port, host);
    const judges = this.stream.listeners('data') as ((answer: Buffer) => void)[];
    for (const judge of judges) this.stream.off('data', judge);
    this.stream.once('data', (answer: Buffer) => {
      if (answer.toString('latin1') !== 'N') {
        for (const judge of judges) judge(answer);
        return;
      }
      this.attachListeners(this.stream);
      this.emit('sslconnect');
    });
  }
}
