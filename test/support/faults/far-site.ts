import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Agent } from 'undici';
import { type FarMachine, SERVICE_ADDRESS } from '../far-machine.js';
import { OwnPostgres } from '../own-postgres.js';
import { freePorts } from '../ports.mjs';
import { StartedWorker } from '../started-worker.js';
import { addWorkerSite } from '../test-worker.js';
import { GridClient, startGrid, support, type Grid } from '../testbed.js';
import type { Traces } from './leftovers.js';

const SITE = 'FAR.example';
const PROCESSORS = '3';
const STARTS = 3;
const ACCOUNTS_EACH = 300;
/** Nobody else on the machine has these. */
const FIRST = 20_000_000 + process.pid * 1_000;

/** A service on this machine with a PostgreSQL of its own, and machines that nobody reaches, each with a worker of one site. */
export class FarSite {
  readonly workers: StartedWorker[] = [];
  private agent: Agent | undefined;
  private token = '';

  private constructor(
    readonly postgres: OwnPostgres,
    readonly machines: readonly FarMachine[],
    readonly outside: string,
    public grid: Grid,
  ) {}

  /** The machines are there and closed. */
  static async start(
    machines: readonly FarMachine[],
    env: Record<string, string> = {},
  ): Promise<FarSite> {
    const outside = mkdtempSync(join(tmpdir(), 'grid-far-'));
    chmodSync(outside, 0o711);
    writeFileSync(join(outside, 'lines'), '');
    chmodSync(join(outside, 'lines'), 0o666);
    const postgres = await OwnPostgres.create(support().root);
    const [port = 0] = await freePorts(1);
    const grid = await startGrid({
      env: {
        DATABASE_URL: postgres.url,
        GRID_HOST: SERVICE_ADDRESS,
        GRID_PORT: String(port),
        GRID_PUBLIC_URL: `https://${SERVICE_ADDRESS}:${port}`,
        GRID_SANDBOX_STORE: join(outside, 'sandboxes'),
        GRID_LOCAL_EXECUTOR: 'false',
        GRID_LOG_LEVEL: 'warn',
        ...env,
      },
    });
    const site = new FarSite(postgres, machines, outside, grid);
    try {
      await site.begin();
      return site;
    } catch (error) {
      await site.remove();
      throw error;
    }
  }

  private async begin(): Promise<void> {
    await addWorkerSite(this.grid, SITE);
    this.token = await this.grid.token('alice', 'grid_user');
    for (const [index, { through }] of this.machines.entries()) {
      const first = FIRST + index * ACCOUNTS_EACH;
      const accounts = `${first}-${first + ACCOUNTS_EACH - 1}`;
      const options = ['--processors', PROCESSORS, '--bind', `${this.outside}:rw`];
      const all = [...options, '--accounts', accounts];
      this.workers.push(await StartedWorker.start(this.grid, SITE, all, { through }));
    }
  }

  /** The site whose jobs the workers run. */
  get name(): string {
    return SITE;
  }

  /** Alice, whatever becomes of the service. */
  client(): GridClient {
    this.agent ??= new Agent({ connect: { ca: this.grid.ca }, connections: 4 });
    return new GridClient(this.grid.url, this.agent, this.token);
  }

  /** File to which every job appends one line when it starts. */
  get lines(): string {
    return join(this.outside, 'lines');
  }

  /** How often each job has started. */
  starts(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const line of readFileSync(this.lines, 'utf8').split('\n')) {
      if (line !== '') counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1);
    }
    return counts;
  }

  /** Begin of the names of the files that programs leave where everybody may write. */
  get leftName(): string {
    return `left-${FIRST}-`;
  }

  /** By what everything is known that jobs of this site may leave on the machines. */
  traces(): Traces {
    const runs = this.workers.map(({ directory }) => join(directory, 'jobs', 'runs'));
    const spools = [
      join(this.outside, 'sandboxes', 'spool'),
      ...this.workers.map(({ directory }) => join(directory, 'spool')),
    ];
    return {
      accounts: { first: FIRST, last: FIRST + this.machines.length * ACCOUNTS_EACH - 1 },
      ...{ runs, spools, executors: this.workers.map(({ executor }) => executor) },
      names: this.leftName,
    };
  }

  /** What is in the directories of workers that have ended, but for their keys and the numbers of their claims. */
  ownFiles(): string[] {
    return this.workers.flatMap(({ directory }) =>
      readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
        (name) => !/^(jobs(\/executor-id|\/runs)?|log|spool|key\.pem|claims)$/.test(name),
      ),
    );
  }

  /** On a busy machine, with a database that is killed meanwhile, a start may take longer than is waited for. */
  async startAgain(env: Record<string, string> = {}): Promise<void> {
    for (let left = STARTS; ; left -= 1) {
      try {
        this.grid = await this.grid.again(env);
        return;
      } catch (error) {
        if (left <= 1) throw error;
      }
    }
  }

  async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.postgres.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** What service and workers had to complain about since their last start. */
  logs(): string {
    return [this.grid.server.log(), ...this.workers.map(({ output }) => output)].join('\n---\n');
  }

  async remove(): Promise<void> {
    for (const worker of this.workers) await worker.remove();
    await this.agent?.destroy();
    await this.grid.remove();
    await this.postgres.remove();
    await rm(this.outside, { recursive: true, force: true });
  }
}
