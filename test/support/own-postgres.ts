import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './ports.mjs';

const START_DEADLINE_MS = 300_000;

/** A PostgreSQL that a test may stop and start; it keeps its URL and data. */
export class OwnPostgres {
  private child: ChildProcess | undefined;
  url = '';

  private constructor(
    private readonly root: string,
    private readonly home: string,
    private readonly port: number,
  ) {}

  static async create(root: string): Promise<OwnPostgres> {
    const home = await mkdtemp(join(tmpdir(), 'grid-postgres-'));
    const [port = 0] = await freePorts(1);
    const postgres = new OwnPostgres(root, home, port);
    await postgres.start();
    return postgres;
  }

  /** The process that has started PostgreSQL. */
  get launcher(): number {
    return this.child?.pid ?? 0;
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const script = join(this.root, 'test/support/postgres-process.mjs');
    const child = spawn(process.execPath, [script, this.home, String(this.port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child = child;
    let output = '';
    child.stdout.setEncoding('utf8');
    const timer = setTimeout(() => child.kill('SIGKILL'), START_DEADLINE_MS);
    for await (const text of child.stdout as AsyncIterable<string>) {
      output += text;
      const match = /ready (\S+)/.exec(output);
      if (!match) continue;
      clearTimeout(timer);
      this.url = match[1] ?? '';
      return;
    }
    throw new Error('PostgreSQL did not start');
  }

  /** kill -9 of PostgreSQL itself; it is started again at once and recovers. */
  kill(): void {
    this.child?.kill('SIGUSR2');
  }

  /** Stops the server (fast: its sessions are ended) and waits for its end. */
  async stop(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.home, { recursive: true, force: true });
  }
}
