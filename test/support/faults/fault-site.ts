import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Agent } from 'undici';
import { freePorts } from '../ports.mjs';
import { OwnPostgres } from '../own-postgres.js';
import { TcpProxy } from '../tcp-proxy.js';
import { GridClient, HAS_WORKERS, runRootOf, startGrid, support, type Grid } from '../testbed.js';
import type { Traces } from './leftovers.js';

const STARTS = 3;
const ACCOUNTS_OF_A_TEST = 1_000;
/** Nobody else on the machine has these, so whatever is theirs is a job's of this test. */
const FIRST = 10_000_000 + process.pid * ACCOUNTS_OF_A_TEST;
const ACCOUNTS = { first: FIRST, last: FIRST + ACCOUNTS_OF_A_TEST - 1 };

/** What of an instance is lost: its service, its worker, or both; without workers the service runs the jobs. */
export type Lost = 'both' | 'service' | 'worker';

/** Two instances that run jobs, on one PostgreSQL, all of which a test may kill. */
export class FaultSite {
  private readonly down = new Set<number>();
  private readonly agents: Agent[] = [];
  private token = '';
  private runs: string[] = [];

  private constructor(
    readonly postgres: OwnPostgres,
    readonly outside: string,
    private readonly urls: readonly string[],
    private readonly grids: Grid[],
    /** Where workers reach either instance. */
    private readonly balancer: TcpProxy | undefined,
  ) {}

  static async start(env: Record<string, string>): Promise<FaultSite> {
    const outside = mkdtempSync(join(tmpdir(), 'grid-faults-'));
    chmodSync(outside, 0o711);
    writeFileSync(join(outside, 'lines'), '');
    chmodSync(join(outside, 'lines'), 0o666);
    const postgres = await OwnPostgres.create(support().root);
    const ports = await freePorts(2);
    const urls = ports.map((port) => `https://localhost:${port}`);
    const balancer = HAS_WORKERS ? await TcpProxy.start(ports) : undefined;
    const first = await startGrid({
      env: {
        DATABASE_URL: postgres.url,
        // Tokens of one instance are good at the other.
        GRID_PUBLIC_URL: balancer ? `https://localhost:${balancer.port}` : (urls[0] ?? ''),
        GRID_PORT: String(ports[0]),
        GRID_SANDBOX_STORE: join(outside, 'sandboxes'),
        GRID_LOG_LEVEL: 'warn',
        GRID_LOCAL_BINDS: `${outside}:rw`,
        GRID_LOCAL_ACCOUNTS: `${ACCOUNTS.first}-${ACCOUNTS.last}`,
        ...env,
      },
    });
    const site = new FaultSite(postgres, outside, urls, [first], balancer);
    try {
      site.grids.push(await first.second({ GRID_PORT: String(ports[1]) }));
      site.token = await first.token('alice', 'grid_user');
      const roots = site.grids.map(({ home }) => runRootOf(home));
      site.runs = (await Promise.all(roots)).map(({ path }) => path);
      return site;
    } catch (error) {
      await site.remove();
      throw error;
    }
  }

  /** File to which every job appends one line. */
  get lines(): string {
    return join(this.outside, 'lines');
  }

  /** By what everything is known that jobs of this site may leave on the machine. */
  traces(): Traces {
    const spools = [join(this.outside, 'sandboxes', 'spool')];
    const executors = [...this.executors()];
    return { accounts: ACCOUNTS, runs: this.runs, executors, spools, names: this.leftName };
  }

  /** Begin of the names of the files that programs leave where everybody may write. */
  get leftName(): string {
    return `left-${ACCOUNTS.first}-`;
  }

  /** How often each job has written its line. */
  linesByJob(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const line of readFileSync(this.lines, 'utf8').split('\n')) {
      if (line !== '') counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1);
    }
    return counts;
  }

  /** Ids under which the instances hold local jobs. */
  executors(): Set<string> {
    const ids = this.grids.map(({ home }) =>
      readFileSync(join(home, 'jobs', 'executor-id'), 'utf8').trim(),
    );
    return new Set(ids.map((id) => `local:${id}`));
  }

  /** A client of an instance that is up. */
  client(wish = 0): GridClient {
    const up = [wish, 1 - wish].find((index) => !this.down.has(index)) ?? wish;
    const { ca } = this.grids[0] as Grid;
    const agent = (this.agents[up] ??= new Agent({ connect: { ca }, connections: 4 }));
    return new GridClient(this.urls[up] ?? '', agent, this.token);
  }

  isDown(index: number): boolean {
    return this.down.has(index);
  }

  /** kill -9 of an instance, which is started again after a while; answers how long it was away, milliseconds. */
  async loseInstance(index: number, milliseconds: number, lost: Lost = 'both'): Promise<number> {
    this.down.add(index);
    const from = Date.now();
    const grid = this.grids[index] as Grid;
    if (lost === 'worker') await grid.worker?.kill();
    else await grid.kill({ isWorkerSpared: lost === 'service' });
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    if (lost === 'worker') await grid.worker?.again();
    else this.grids[index] = await startAgain(grid);
    this.down.delete(index);
    return Date.now() - from;
  }

  /** What the instances had to complain about since their last start. */
  logs(): string {
    return this.grids.map(({ server, worker }) => server.log() + (worker?.output ?? '')).join('');
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

  /** Ends both instances as an administrator does; answers the directories of runs that are still there. */
  async stop(): Promise<string[]> {
    await Promise.all(this.grids.map((grid) => grid.stop()));
    return this.runs.filter(existsSync);
  }

  async remove(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.destroy()));
    await Promise.all(this.grids.map((grid) => grid.remove()));
    await this.balancer?.close();
    await this.postgres.remove();
    await rm(this.outside, { recursive: true, force: true });
  }
}

/** On a busy machine, with a database that is killed meanwhile, a start may take longer than is waited for. */
async function startAgain(grid: Grid): Promise<Grid> {
  for (let left = STARTS; ; left -= 1) {
    try {
      return await grid.again();
    } catch (error) {
      if (left <= 1) throw error;
    }
  }
}
