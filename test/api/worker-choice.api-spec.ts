import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RunReport } from '#src/jobs/workers/exchange/protocol.js';
import { adminToken } from '../support/administration.js';
import { show, submit } from '../support/jobs.js';
import { PlayedWorker } from '../support/played-worker.js';
import { addWorkerSite } from '../support/test-worker.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

let grid: Grid;
let alice: GridClient;
let bob: GridClient;
let adam: GridClient;
let sites = 0;
let site: string;

beforeAll(async () => {
  grid = await startGrid({ env: { GRID_ROLE: 'api' } });
  [alice, bob] = await Promise.all([grid.as('alice'), grid.as('bob')]);
  adam = grid.bearer(await adminToken(grid));
});
afterAll(() => grid?.remove());
beforeEach(async () => {
  site = `CHOICE.s${(sites += 1)}`;
  await addWorkerSite(grid, site);
  await grid.sql(`update registry_site set tags = '{el9,avx}', processors = 100 where name = $1`, [
    site,
  ]);
});

const job = (more: object = {}): object => ({ Executable: '/bin/true', Site: site, ...more });
const jidsOf = (runs: readonly { run: string }[]): number[] =>
  runs.map(({ run }) => Number(run.split('.')[0]));
const joined = (facts: object): Promise<PlayedWorker> =>
  PlayedWorker.registered(grid, site, { isolation: 'namespaces', ...facts });

async function reasonFor(jid: number): Promise<string> {
  const { body } = await alice.get(`/jobs/${jid}/explain`);
  return body.sites[site];
}

async function shown({ id }: PlayedWorker): Promise<Record<string, unknown>> {
  const { body } = await adam.get('/admin/workers', { query: { site } });
  return body.workers.find((worker: { id: string }) => worker.id === id);
}

describe('a worker with tags', () => {
  it('gets jobs that ask for none others', async () => {
    const [plain = 0, el9 = 0, avx = 0] = await submit(alice, [
      job(),
      job({ Tags: ['el9'], Token: { scope: 'jobs:read' } }),
      job({ Tags: ['el9', 'avx'] }),
    ]);
    const worker = await joined({ tags: ['el9'] });
    expect(jidsOf(await worker.take(5)).sort((a, b) => a - b)).toEqual([plain, el9]);
    expect(await reasonFor(avx)).toBe(
      'None of its workers can hold the job: one does not have avx',
    );
    const other = await joined({});
    expect(jidsOf(await other.take(5))).toEqual([avx]);
  });
});

describe('a worker that ends', () => {
  it('gets jobs whose time is over before that', async () => {
    const [short = 0, long = 0, open = 0] = await submit(alice, [
      job({ WallTime: 100 }),
      job({ WallTime: 1_000 }),
      job(),
    ]);
    const before = Date.now();
    const worker = await joined({ lifeSeconds: 600, wallSeconds: 86_400 });
    expect(jidsOf(await worker.take(5))).toEqual([short]);
    const endsAt = String((await shown(worker))['endsAt']);
    expect(Date.parse(endsAt) - before).toBeGreaterThanOrEqual(600_000);
    expect(Date.parse(endsAt)).toBeLessThanOrEqual(Date.now() + 600_000);
    const has =
      /^None of its workers can hold the job: one takes jobs of at most 5\d\d s, as it ends at .*Z$/;
    expect(await reasonFor(long)).toMatch(has);
    expect(await reasonFor(open)).toMatch(/Z: say WallTime$/);
    const bounded = await joined({ lifeSeconds: 600, wallSeconds: 500 });
    expect(jidsOf(await bounded.take(5)).sort((a, b) => a - b)).toEqual([long, open]);
  });

  it('keeps no jobs from those that stay, when several claims are looked at together', async () => {
    const workers = await Promise.all([
      ...[30, 3_000, 90, 40].map((lifeSeconds) => joined({ lifeSeconds })),
      joined({}),
    ]);
    const claims = workers.map((worker) => worker.claim({ most: 1, wait: 2 }));
    const jids = await submit(alice, [job({ WallTime: 2_000 }), job({ WallTime: 2_000 })]);
    const answers = await Promise.all(claims);
    const given = answers.flatMap(({ body }) => body.runs);
    expect(jidsOf(given).sort((a, b) => a - b)).toEqual(jids);
  });
});

describe('a worker whose runs go wrong at once', () => {
  const failure = { minor: 'Application Finished With Errors' };

  /** Takes the next run and has it end so. */
  async function through(worker: PlayedWorker, end: object): Promise<number> {
    const [run] = await worker.take(1);
    if (!run) return 0;
    await worker.report({ run: run.run, kind: 'starting' });
    await worker.report({ run: run.run, ...end } as RunReport);
    return Number(run.run.split('.')[0]);
  }
  const bad = { kind: 'ended', failure, wallSeconds: 0 };

  /** Jobs of two owners; the last one of alice. */
  async function waiting(count: number): Promise<number> {
    let last: number | undefined;
    for (let left = count; left > 0; left -= 1) {
      [last] = await submit(alice, [job()]);
      await submit(bob, [job()]);
    }
    return last ?? 0;
  }

  it('gets one at a time, then none for a while, and as many as before after a good one', async () => {
    const jid = await waiting(8);
    const worker = await joined({});
    await grid.sql(`update worker set bad_runs = '{alice,bob,alice,bob}' where id = $1`, [
      worker.id,
    ]);
    expect(await through(worker, bad)).not.toBe(0);
    const fault = 'Its last runs went wrong at once: it gets one at a time';
    expect(await shown(worker)).toMatchObject({ state: 'active', fault });
    const one = await worker.take(8);
    expect(one).toHaveLength(1);
    const { run = '' } = one[0] ?? {};
    const full = await worker.claim({ most: 8, holding: [run], wait: 1 });
    expect(full.body.runs).toEqual([]);
    await worker.report({ run, kind: 'starting' });
    await worker.report({ run, ...bad } as RunReport);
    expect(await shown(worker)).toMatchObject({
      fault: expect.stringMatching(/^Its last runs .* at a time, and none before .*Z$/),
    });
    expect((await worker.claim({ most: 8, wait: 1 })).body.runs).toEqual([]);
    expect(await reasonFor(jid)).toBe(
      'It cannot be used now: its worker pauses, as its last runs went wrong',
    );
    await grid.sql(`update worker set paused_until = now() where id = $1`, [worker.id]);
    expect(await through(worker, { kind: 'ended', wallSeconds: 0 })).not.toBe(0);
    expect(await shown(worker)).not.toHaveProperty('fault');
    expect(await worker.take(8)).toHaveLength(8);
  });

  it('is not held for bad by the programs of one owner, nor by programs that have run', async () => {
    await submit(
      alice,
      Array.from({ length: 7 }, () => job()),
    );
    const worker = await joined({});
    for (let left = 7; left > 0; left -= 1) expect(await through(worker, bad)).not.toBe(0);
    expect(await shown(worker)).not.toHaveProperty('fault');
    await waiting(4);
    const late = { kind: 'ended', failure, wallSeconds: 3 };
    await grid.sql(`update worker set bad_runs = '{alice,bob,alice,bob}' where id = $1`, [
      worker.id,
    ]);
    const [run] = await worker.take(1);
    await worker.report({ run: run?.run ?? '', kind: 'starting' });
    await grid.sql(`update jobs set start_execution = now() - interval '9 s' where jid = $1`, [
      run?.run.split('.')[0],
    ]);
    await worker.report({ run: run?.run ?? '', ...late } as RunReport);
    for (let left = 4; left > 0; left -= 1) expect(await through(worker, bad)).not.toBe(0);
    expect(await shown(worker)).not.toHaveProperty('fault');
  });

  it('is not held for bad by jobs that were killed', async () => {
    const jid = await waiting(1);
    const worker = await joined({});
    await grid.sql(`update worker set bad_runs = '{alice,bob,alice,bob}' where id = $1`, [
      worker.id,
    ]);
    const runs = await worker.take(2);
    const run = `${jid}.1`;
    await worker.report(...runs.map((one) => ({ run: one.run, kind: 'starting' }) as const));
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    await worker.report({ run, ...bad } as RunReport);
    expect(await shown(worker)).not.toHaveProperty('fault');
  });

  it('is one whose machine gives all back or loses it, whoever has sent it', async () => {
    const [jid = 0] = await submit(alice, [job()]);
    const worker = await joined({});
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const run = `${jid}.${attempt}`;
      expect((await worker.take(1)).map((one) => one.run)).toEqual([run]);
      await worker.report({ run, kind: 'returned', reason: 'no room', isOfMachine: true });
    }
    expect(await shown(worker)).toHaveProperty('fault');
    await worker.take(1);
    const run = `${jid}.6`;
    await worker.report({ run, kind: 'starting' });
    await worker.report({ run, kind: 'lost', app: 'x' });
    expect(await show(alice, jid)).toMatchObject({ status: 'Failed' });
    expect(String((await shown(worker))['fault'])).toMatch(/none before/);
  });
});
