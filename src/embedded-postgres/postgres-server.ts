import type { ChildProcess } from 'node:child_process';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { sleep } from '#src/kernel/index.js';
import { spawnAs } from './postgres-account.js';
import { EmbeddedPostgresError } from './postgres-error.js';
import { prepareSocketDirectory, type PostgresLayout } from './postgres-layout.js';
import { endOrphans } from './postgres-orphan.js';
import { readPostmasterFile } from './postmaster-file.js';

/** The port is only a part of the socket's name: nothing listens on TCP. */
export const EMBEDDED_PORT = 5432;
const POLL_MS = 15;
/** Replaying a gigabyte of log after a crash takes a while on a slow disk. */
const READY_DEADLINE_MS = 10 * 60_000;
const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const MAX_LOG_BYTES = 20 * 1024 * 1024;

/** One run of the postmaster as a child of this process. */
export class PostgresServer {
  /** Settles when the process has ended, however it did. */
  readonly ended: Promise<string>;
  #hasEnded = false;

  private constructor(
    private readonly child: ChildProcess,
    private readonly data: string,
    private readonly logPath: string,
  ) {
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#hasEnded = true;
        resolve(how);
      };
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    });
  }

  /** Starts the postmaster and waits until it takes connections. */
  static async start(
    layout: PostgresLayout,
    options: {
      socketDirectory: string;
      logPath: string;
      log: (line: string) => void;
      /** Gives the start up (recovery may take long). */
      signal?: AbortSignal;
    },
  ): Promise<PostgresServer> {
    const { socketDirectory, logPath, log, signal } = options;
    await prepareSocketDirectory(layout.account, socketDirectory);
    await endOrphans(layout.data, log);
    await removeStaleSocket(socketDirectory);
    await rotate(logPath);
    const file = await open(logPath, 'a', 0o640);
    let server: PostgresServer;
    try {
      const args = serverArguments(layout.data, socketDirectory);
      const child = spawnAs(layout.account, layout.binaries.postgres, args, [
        'ignore',
        file.fd,
        file.fd,
      ]);
      child.unref();
      server = new PostgresServer(child, layout.data, logPath);
    } finally {
      await file.close();
    }
    await server.ready(log, signal);
    return server;
  }

  get pid(): number | undefined {
    return this.#hasEnded ? undefined : this.child.pid;
  }

  /** Asks for a fast shutdown and waits for the end; sessions are ended, their open transactions undone. */
  async stop(): Promise<void> {
    const steps: [NodeJS.Signals, number][] = [
      ['SIGINT', FAST_SHUTDOWN_MS],
      ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
      ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
    ];
    for (const [signal, milliseconds] of steps) {
      if (this.#hasEnded) return;
      this.child.kill(signal);
      if (await this.endsWithin(milliseconds)) return;
    }
  }

  /** Only sends the signal: for a process that is about to exit. */
  signalStop(): void {
    if (!this.#hasEnded) this.child.kill('SIGINT');
  }

  private async endsWithin(milliseconds: number): Promise<boolean> {
    const timeout = new AbortController();
    try {
      return await Promise.race([
        this.ended.then(() => true),
        sleep(milliseconds, { signal: timeout.signal }).then(
          () => false,
          () => true,
        ),
      ]);
    } finally {
      timeout.abort(new Error('the server has ended'));
    }
  }

  /** Line 1 of postmaster.pid must be our child's pid: the file of an earlier run says `ready` as well. */
  private async ready(log: (line: string) => void, signal?: AbortSignal): Promise<void> {
    const started = Date.now();
    let told = started;
    while (!this.#hasEnded && !signal?.aborted && Date.now() - started < READY_DEADLINE_MS) {
      const file = readPostmasterFile(this.data);
      if (file?.pid === this.child.pid && file?.isReady) return;
      if (Date.now() - told > 10_000) {
        told = Date.now();
        log('PostgreSQL is still recovering');
      }
      await sleep(POLL_MS);
    }
    const why = this.#hasEnded ? await this.ended : 'it was not ready in time';
    await this.stop();
    throw new EmbeddedPostgresError(
      `PostgreSQL did not start (${why}): ${await lastLines(this.logPath)}`,
    );
  }
}

function serverArguments(data: string, socketDirectory: string): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '',
    port: String(EMBEDDED_PORT),
    unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    cluster_name: 'gridgate',
    logging_collector: 'off',
    log_destination: 'stderr',
  };
  return [
    '-D',
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/** The socket's own lock file names a pid, which a zombie or a stranger may have now; nobody runs here. */
async function removeStaleSocket(directory: string): Promise<void> {
  const socket = `${directory}/.s.PGSQL.${EMBEDDED_PORT}`;
  await rm(`${socket}.lock`, { force: true });
  await rm(socket, { force: true });
}

async function rotate(path: string): Promise<void> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size > MAX_LOG_BYTES) await rename(path, `${path}.1`);
}

async function lastLines(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = text.trim().split('\n').slice(-3);
  return lines.join(' | ') || `see ${path}`;
}
