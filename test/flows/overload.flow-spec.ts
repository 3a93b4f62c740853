import { once } from 'node:events';
import { connect } from 'node:tls';
import { FrozenPostgres } from '../support/frozen-postgres.js';
import { Load } from '../support/load.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { encoded } from '../support/tenants/place.js';
import { eventually, startGrid, support, type Grid, type GridClient } from '../support/testbed.js';

const SEARCH = `/filecatalogue/directory/${encoded('/vo')}/search`;

interface Seen {
  status: number;
  retryAfter: string | undefined;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));

/** Statuses of so many requests that are sent at once on one connection (HTTP pipelining). */
async function pipelined(grid: Grid, path: string, count: number): Promise<number[]> {
  const token = await grid.token('alice', 'grid_user');
  const socket = connect({ port: Number(new URL(grid.url).port), host: '127.0.0.1', ca: grid.ca });
  await once(socket, 'secureConnect');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text = (text + piece).replace(/\r\n\r\n[^]*?(?=HTTP\/1\.1 \d{3} )/g, '\n');
  });
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  socket.write(`${head}\r\n`.repeat(count - 1) + `${head}Connection: close\r\n\r\n`);
  await once(socket, 'close');
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

async function metric(grid: Grid, name: string): Promise<number> {
  const { body } = await grid.anonymous.get<string>('/metrics');
  const line = body.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1));
}

describe('more requests than connections of the database', () => {
  // One caller may have all: what is tried here is the queue before the pool, not the caller's share of it.
  const env = {
    GRID_ROLE: 'api',
    GRID_DB_POOL: '3',
    GRID_CALLER_CONCURRENCY: '1000',
    GRID_LOG_LEVEL: 'warn',
  };
  let patient: Grid;
  let grid: Grid;
  beforeAll(async () => {
    patient = await startGrid({ env });
    grid = await patient.second({ GRID_DB_QUEUE: '1' });
  });
  afterAll(async () => {
    await grid?.stop();
    await patient?.remove();
  });

  it('wait their turn when one client pipelines 200 searches', async () => {
    const statuses = await pipelined(patient, SEARCH, 200);
    expect(statuses).toEqual(Array.from({ length: 200 }, () => 200));
  });

  it('are refused at once with Retry-After when they are too many, and the service stays well', async () => {
    const { anonymous } = grid;
    // The requests of one caller take turns: only several of them can ask for too much of the database.
    const names = ['alice', 'bob', 'carol', 'mona', 'adam', 'fred'] as const;
    const callers = await Promise.all(names.map((name) => grid.as(name)));
    await anonymous.get('/health/live');
    const before = await metric(grid, 'process_resident_memory_bytes');
    const seen: Seen[] = [];
    let asked = 0;
    const load = new Load(80, async (worker) => {
      const caller = callers[worker % callers.length] as GridClient;
      // Each asks something else: equal questions that come together would be one.
      const query = { allOwners: true, maxJobs: 1, minorStatus: `none ${(asked += 1)}` };
      const { status, headers } = await caller.get('/jobs', { query });
      seen.push({ status, retryAfter: headers['retry-after']?.toString() });
      if (status === 503) await pause();
    });
    const refused = (): Seen[] => seen.filter(({ status }) => status === 503);
    await eventually(
      () => Promise.resolve(refused().length > 200 && seen.length > 800),
      'overload',
    );
    expect((await anonymous.get('/health/live')).status).toBe(200);
    expect((await load.stop()).failures).toEqual([]);
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200, 503]));
    expect(new Set(refused().map(({ retryAfter }) => retryAfter))).toEqual(new Set(['1']));
    const after = await metric(grid, 'process_resident_memory_bytes');
    expect((after - before) / 2 ** 20).toBeLessThan(250);
    expect((await callers[0]?.get('/jobs?maxJobs=1'))?.status).toBe(200);
    expect(await metric(grid, 'gridgate_database_pool{state="waiting"}')).toBe(0);
  });
});

describe('a PostgreSQL that is frozen (SIGSTOP), so that no connection ends', () => {
  let postgres: OwnPostgres;
  let grid: Grid;
  let frozen: FrozenPostgres | undefined;
  beforeAll(async () => {
    postgres = await OwnPostgres.create(support().root);
    const env = { GRID_ROLE: 'api', GRID_DB_POOL: '4', GRID_LOG_LEVEL: 'warn' };
    const deadline = { GRID_REQUEST_TIMEOUT: '5' };
    grid = await startGrid({ env: { ...env, ...deadline, DATABASE_URL: postgres.url } });
  });
  afterAll(async () => {
    frozen?.thaw();
    await grid?.remove();
    await postgres?.remove();
  });

  it('is answered 503 while it is frozen, and all is well when it goes on', async () => {
    const alice = await grid.as('alice');
    await alice.get('/jobs');
    const seen: (Seen & { at: number })[] = [];
    const load = new Load(16, async () => {
      const at = Date.now();
      const { status, headers } = await alice.get('/jobs?maxJobs=1');
      const retryAfter = headers['retry-after']?.toString();
      seen.push({ at, status, retryAfter });
    });
    await eventually(() => Promise.resolve(seen.length > 50), 'load');
    const frozenAt = Date.now();
    frozen = FrozenPostgres.freeze(postgres.launcher);
    const during = () => seen.filter(({ at }) => at > frozenAt);
    await eventually(() => Promise.resolve(during().length > 40), 'refusals');
    const { anonymous } = grid;
    expect((await anonymous.get('/health/live')).status).toBe(200);
    expect((await anonymous.get('/health/ready')).status).toBe(503);
    frozen.thaw();
    const thawedAt = Date.now();
    await eventually(async () => (await anonymous.get('/health/ready')).status === 200, 'ready');
    await eventually(async () => (await alice.get('/jobs')).status === 200, 'an answer');
    expect((await load.stop()).failures).toEqual([]);
    const refused = seen.filter(
      ({ at, status }) => at > frozenAt && at < thawedAt && status !== 200,
    );
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    expect(refused.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true);
  });
});
