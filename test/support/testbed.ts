import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { Agent, type FormData, request as send } from 'undici';
import { openRunRoot, type RunRoot } from '#src/worker/runs/run-root.js';
import type { DatabaseConnection } from '#src/config/index.js';
import { markedProcesses, signal } from './faults/job-processes.js';
import type { StartedWorker } from './started-worker.js';
import { commandOf, removeControlGroups, runningProcesses } from './processes.js';
import { startServerProcess, throughPooler, type ServerProcess } from './server-process.mjs';

/** The demo identities of the contract. */
export type Identity = 'alice' | 'bob' | 'carol' | 'mona' | 'adam' | 'fred' | 'stranger';

/** Group with which `as()` asks for a token unless told otherwise. */
const HOME_GROUP: Partial<Record<Identity, string>> = {
  alice: 'grid_user',
  bob: 'grid_user',
  carol: 'grid_user',
  mona: 'grid_mon',
  adam: 'grid_adm',
  fred: 'grid_fc',
};

/** Jobs of local sites are run by a worker of each grid, in its home and under the same limits. */
export const HAS_WORKERS = process.env['GRID_TEST_WORKERS'] === 'true';

/** What one call may carry. */
export interface CallOptions {
  query?: Record<string, string | number | boolean | string[]> | string;
  json?: unknown;
  form?: Record<string, string> | [string, string][];
  multipart?: FormData;
  body?: string | Buffer | AsyncIterable<Uint8Array>;
  headers?: Record<string, string>;
}

/** An answer, read whole. `body` is the parsed JSON, or the text of anything else; what is compressed stays so. */
export interface Answer<T = any> {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: T;
  bytes: Buffer;
}

/** Calls a server in somebody's name. */
export class GridClient {
  constructor(
    readonly url: string,
    private readonly agent: Agent,
    readonly token: string | undefined,
  ) {}

  /** Cuts its connections, whatever is under way on them. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }

  get<T = any>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
    return this.call('GET', path, options);
  }
  head<T = any>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
    return this.call('HEAD', path, options);
  }
  post<T = any>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
    return this.call('POST', path, options);
  }
  put<T = any>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
    return this.call('PUT', path, options);
  }
  patch<T = any>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
    return this.call('PATCH', path, options);
  }
  delete<T = any>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
    return this.call('DELETE', path, options);
  }

  /** Any method; never follows redirects, never throws for a status. */
  async call<T = any>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const { headers, body } = payload(options);
    if (this.token !== undefined && headers['authorization'] === undefined) {
      headers['authorization'] = `Bearer ${this.token}`;
    }
    const answer = await send(`${this.url}${path}${queryText(options.query)}`, {
      method: method as 'GET',
      headers,
      body: body as string,
      dispatcher: this.agent,
      headersTimeout: 60_000,
      bodyTimeout: 60_000,
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const type = String(answer.headers['content-type'] ?? '');
    const text = bytes.toString('utf8');
    const isPlain = answer.headers['content-encoding'] === undefined && text !== '';
    const parsed: unknown = /[/+]json/.test(type) && isPlain ? JSON.parse(text) : text;
    return { status: answer.statusCode, headers: answer.headers, body: parsed as T, bytes };
  }
}

/** A running server with its database, and clients for everybody. */
export class Grid {
  private readonly agents: Agent[] = [];
  private readonly tokens = new Map<string, Promise<string>>();
  /** With HAS_WORKERS, what runs its jobs. */
  worker: StartedWorker | undefined;

  constructor(
    readonly server: ServerProcess,
    readonly home: string,
    /** Shared: it is another server's, which removes it. */
    readonly database: { url: string; name: string; isShared?: boolean },
    readonly ca: string,
    private readonly env: Record<string, string>,
    private readonly process: Pick<StartOptions, 'ownProcess'> = {},
  ) {}

  get url(): string {
    return this.server.url;
  }

  /** The process that runs its jobs: the service's own worker, or the one that is given; and what it has said. */
  get runner(): { pid: number; log: string } {
    const { server, worker } = this;
    if (worker) return { pid: worker.pid, log: worker.output };
    return { pid: this.ownWorker() ?? 0, log: server.log() };
  }

  /** Calls without token and without certificate. */
  get anonymous(): GridClient {
    return new GridClient(this.url, this.agent({}), undefined);
  }

  /** Calls with a token of the identity, got through the certificate flow; tokens are kept. */
  async as(name: Identity, group = HOME_GROUP[name] ?? '', setup = 'Prod'): Promise<GridClient> {
    const key = `${name} ${group} ${setup}`;
    const token = this.tokens.get(key) ?? this.token(name, group, setup);
    this.tokens.set(key, token);
    return new GridClient(this.url, this.agent({}), await token);
  }

  /** Calls with the given token. */
  bearer(token: string): GridClient {
    return new GridClient(this.url, this.agent({}), token);
  }

  /** Calls with the client certificate of the identity. */
  async certificate(name: Identity | { cert: string; key: string }): Promise<GridClient> {
    return new GridClient(this.url, this.agent(await this.pair(name)), undefined);
  }

  /** A fresh token by certificate. Throws when it is refused. */
  async token(
    name: Identity | { cert: string; key: string },
    group: string,
    setup = 'Prod',
    scope?: string,
  ): Promise<string> {
    const client = await this.certificate(name);
    const query = { grant_type: 'client_credentials', group, setup, ...(scope ? { scope } : {}) };
    const answer = await client.get('/oauth2/token', { query });
    if (answer.status !== 200) throw new Error(`token refused: ${answer.bytes.toString('utf8')}`);
    return (answer.body as { access_token: string }).access_token;
  }

  /** Certificate and key of a demo identity, PEM. */
  async pair(
    name: Identity | { cert: string; key: string },
  ): Promise<{ cert: string; key: string }> {
    if (typeof name !== 'string') return name;
    const [cert, key] = await Promise.all(
      ['crt', 'key'].map((kind) => readFile(join(this.home, 'pki', `${name}.${kind}`), 'utf8')),
    );
    return { cert: cert ?? '', key: key ?? '' };
  }

  /** Rows of a statement on the server's database; what the database undoes for the server's own (deadlock) is done again. */
  async sql<Row = any>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = await this.connection();
    try {
      return (await client.query(text, values)).rows as Row[];
    } catch (error) {
      if ((error as { code?: string }).code !== '40P01') throw error;
      return await this.sql(text, values);
    } finally {
      await client.end();
    }
  }

  /** A connection to the server's database; the caller ends it. */
  async connection(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.database.url });
    await client.connect();
    return client;
  }

  /** A second server on the same database and, for local files, the same CA. */
  async second(env: Record<string, string> = {}): Promise<Grid> {
    const home = await makeHome(join(this.home, 'pki'));
    return startOn(
      home,
      { ...this.database, isShared: true },
      { ...this.env, ...env },
      this.process,
    );
  }

  /** Starts again after stop() or kill(), on the same home and database. */
  async again(env: Record<string, string> = {}): Promise<Grid> {
    await this.closeClients();
    const { worker } = this;
    // The worker knows the service by its address.
    const address: Record<string, string> = worker ? { GRID_PORT: new URL(this.url).port } : {};
    const all = { ...address, ...this.env, ...env };
    return startOn(this.home, this.database, all, { ...this.process, worker });
  }

  async stop(): Promise<void> {
    await this.closeClients();
    await this.worker?.stop();
    await this.server.stop();
  }

  /** kill -9, of its worker, too, unless that is to go on. */
  async kill({ isWorkerSpared = false } = {}): Promise<void> {
    await this.closeClients();
    if (!isWorkerSpared) await this.worker?.kill();
    await this.server.kill(); // first, as it would start its own worker again
    if (!isWorkerSpared) await this.killOwnWorker();
  }

  /** kill -9 of the service's own worker; resolves when it has ended. */
  async killOwnWorker(): Promise<void> {
    const pids = ownWorkers(this.home);
    for (const pid of pids) signal(pid, 'SIGKILL');
    await eventually(() => Promise.resolve(pids.every((pid) => commandOf(pid) === '')), 'its end');
  }

  /** The process of the service's own worker, which may have outlived it; undefined when there is none. */
  ownWorker(): number | undefined {
    return ownWorkers(this.home).at(-1);
  }

  /** Stops the server, ends its jobs and removes its home, and its database unless that is another server's. */
  async remove(): Promise<void> {
    await this.stop();
    grids.delete(this);
    await this.killOwnWorker(); // it may have runs
    await removeRuns(this.home);
    const { name, isShared } = this.database;
    if (!isShared) await onServer(`drop database if exists "${name}" with (force)`);
    await rm(this.home, { recursive: true, force: true });
  }

  private agent(tls: { cert?: string; key?: string }): Agent {
    const agent = new Agent({ connect: { ca: this.ca, ...tls }, pipelining: 1 });
    this.agents.push(agent);
    return agent;
  }

  private async closeClients(): Promise<void> {
    await Promise.all(
      this.agents.splice(0).map(async (agent) => {
        if (!agent.destroyed) await agent.destroy();
      }),
    );
  }
}

/** How a server is started beside the usual: its environment, Node's options, who gets its stalls, and as whom. */
export interface StartOptions {
  env?: Record<string, string>;
  /** For suites of start, stop, signals, kills, several processes and stalls; second() and again() do the same. */
  ownProcess?: boolean;
  node?: string[];
  stallsIn?: string;
  /** Words before its command: programs that become it. */
  through?: string[];
  /** The project's folder and Node, as `through` sees them. */
  root?: string;
  program?: string;
  /** Account that has its home. */
  owner?: number;
  /** The URL by which it reaches a database. */
  databaseUrl?: (url: string) => string;
}

/** Those of this suite that are not removed. */
const grids = new Set<Grid>();

/** What the servers of the suite have said last, and of what failed before that. */
function lastWords(): string {
  return [...grids]
    .map(({ home, server, runner }) => {
      const lines = server.log().trim().split('\n');
      const faults = lines.slice(0, -20).filter((line) => /"level":"(warn|error)"/.test(line));
      const said = [...faults.slice(-20), ...lines.slice(-20)].join('\n');
      return `\n${home}, jobs run by process ${runner.pid}:\n${said}`;
    })
    .join('');
}

/** Starts a server with the demo registry and catalogue on a database of its own, or that of the environment. */
export async function startGrid(options: StartOptions = {}): Promise<Grid> {
  const { DATABASE_URL: given } = options.env ?? {};
  const name = `t_${randomBytes(6).toString('hex')}`;
  if (given === undefined)
    await onServer(`create database "${name}" template template_grid strategy file_copy`);
  const home = await makeHome(support().pki);
  const { env = {}, owner, databaseUrl: reached = (url: string) => url, ...process } = options;
  if (owner !== undefined) execFileSync('chown', ['-R', `${owner}:${owner}`, home]);
  const own = { url: reached(databaseUrl(name)), name };
  return startOn(
    home,
    given === undefined ? own : { url: given, name, isShared: true },
    env,
    process,
  );
}

/** Starts a server with the demo PKI on a database that is there. */
export async function startOnDatabase(
  database: Grid['database'],
  env: Record<string, string>,
): Promise<Grid> {
  return startOn(await makeHome(support().pki), database, env);
}

/** Polls until the probe gives something, with a deadline. */
export async function eventually<T>(
  probe: () => Promise<T | undefined | false>,
  what: string,
  milliseconds = 60_000,
): Promise<T> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const result = await probe();
    if (result !== undefined && result !== false) return result;
    if (Date.now() > end)
      throw new Error(`waited ${milliseconds} ms in vain: ${what}${lastWords()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function startOn(
  home: string,
  database: Grid['database'],
  env: Record<string, string>,
  {
    worker,
    ...process
  }: Omit<StartOptions, 'env' | 'owner' | 'databaseUrl'> & {
    worker?: StartedWorker | undefined;
  } = {},
): Promise<Grid> {
  const hasWorker = HAS_WORKERS && env['GRID_LOCAL_EXECUTOR'] !== 'false';
  const server = await startServerProcess({
    root: support().root,
    ...process,
    env: {
      GRID_HOME: home,
      DATABASE_URL: database.url,
      GRID_PORT: '0',
      GRID_DEMO: 'true',
      ...env,
      ...(hasWorker && { GRID_LOCAL_EXECUTOR: 'false' }),
    },
  });
  const ca = await readFile(join(home, 'pki', 'ca.crt'), 'utf8');
  const { ownProcess = false } = process;
  const grid = new Grid(server, home, database, ca, env, { ownProcess });
  grids.add(grid);
  if (hasWorker) {
    const { workerOf } = await import('./grid-worker.js'); // which needs this module
    grid.worker = worker ?? (await workerOf(grid, env, process));
    if (!grid.worker.isRunning) await grid.worker.again();
  }
  return grid;
}

/** Workers of a service with that home, the older ones first. */
function ownWorkers(home: string): number[] {
  return runningProcesses()
    .filter(({ command }) => command.endsWith(`/own-worker.process.js ${home}`))
    .map(({ pid }) => pid);
}

/** Jobs go on without their server: those of a home that is removed end here, also where their directory is outside of it. */
async function removeRuns(home: string): Promise<void> {
  if (!existsSync(join(home, 'jobs'))) return;
  const { path, executorId } = await runRootOf(home);
  for (const { pid } of markedProcesses(new Set([executorId]))) signal(pid, 'SIGKILL');
  await rm(path, { recursive: true, force: true });
  await removeGroups(executorId);
}

/** Where the runs of a service with that home are: its worker may have a directory of its own, to which `jobs` leads. */
export async function runRootOf(home: string): Promise<RunRoot> {
  const jobs = await realpath(join(home, 'jobs')).catch(() => join(home, 'jobs'));
  return openRunRoot(dirname(jobs), process.getuid?.() === 0);
}

/** Programs of an executor have been told to end: their control groups go with them. */
export async function removeGroups(executor: string): Promise<void> {
  const name = executor.replace('local:', 'gridgate-');
  await eventually(() => Promise.resolve(removeControlGroups(name)), 'the end of the programs');
}

async function makeHome(pki: string): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'grid-home-'));
  await mkdir(join(home, 'pki'), { recursive: true });
  await cp(pki, join(home, 'pki'), { recursive: true });
  return home;
}

/** The URL of a database of the tests' PostgreSQL. */
export function databaseUrl(name: string): string {
  return support().url.replace('DATABASE', name);
}

/** How the service connects to that database: through a pooler, when the run has one. */
export function databaseConnection(name: string): DatabaseConnection {
  const env = throughPooler({ DATABASE_URL: databaseUrl(name) });
  const { DATABASE_URL: url, GRID_DATABASE_DIRECT_URL: directUrl } = env;
  return { url, ...(directUrl === undefined ? {} : { directUrl }) };
}

/** What the global set-up has prepared; in URLs `DATABASE` stands for the name of a database. */
export function support(): {
  root: string;
  home: string;
  admin: string;
  pki: string;
  url: string;
  /** The same through PgBouncer, when the run has one. */
  pooler?: string;
} {
  const text = process.env['GRID_TEST_SUPPORT'];
  if (text === undefined) throw new Error('the global set-up has not run');
  return JSON.parse(text) as ReturnType<typeof support>;
}

/** One statement on the tests' PostgreSQL, outside of every database of theirs. */
export async function onServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: support().admin });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

function queryText(query: CallOptions['query']): string {
  if (query === undefined || query === '') return '';
  if (typeof query === 'string') return `?${query}`;
  const pairs = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) pairs.append(key, String(one));
  }
  return `?${pairs.toString()}`;
}

function payload(options: CallOptions): { headers: Record<string, string>; body: unknown } {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  if (options.json !== undefined) {
    return {
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(options.json),
    };
  }
  if (options.form !== undefined) {
    return {
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(options.form).toString(),
    };
  }
  return { headers, body: options.multipart ?? options.body ?? null };
}
