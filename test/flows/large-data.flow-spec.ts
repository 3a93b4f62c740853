import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isNightly } from '../support/counts.js';
import { fillLargely } from '../support/large-data.js';
import { encoded } from '../support/tenants/place.js';
import { startGrid, type Grid, type Identity } from '../support/testbed.js';

const SIZES = { entries: 200_000, closed: 100_000, values: 1_000_000, jobs: 0 };
const JOBS = 30_000;
/**
 * MiB of the server's heap, of which 48 are its own: what an answer holds has to fit into the rest, however long it is. More
 * than that would end the process.
 */
const HEAP_MIB = 96;
const WIDE = `/filecatalogue/directory/${encoded('/wide')}`;
const CLOSED = `/filecatalogue/directory/${encoded('/closed')}`;

const sizeOf = (object: unknown): number => Object.keys(object as object).length;

/** Stretches of more than 100 ms of processor time without a turn of the loop, since the start; judged at night only. */
async function stalls(grid: Grid): Promise<number> {
  if (!isNightly) return 0;
  const { body } = await grid.anonymous.get<string>('/metrics');
  const value = (name: string): number =>
    Number(
      body
        .split('\n')
        .find((line) => line.startsWith(`gridgate_event_loop_stall_seconds_${name}`))
        ?.split(' ')
        .at(-1),
    );
  return value('count') - value('bucket{le="0.1"}');
}

describe('answers from large data', () => {
  let grid: Grid;
  beforeAll(async () => {
    const env = { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'warn', GRID_CATALOGUE_GLOBAL_READ: 'false' };
    grid = await startGrid({ env, node: [`--max-old-space-size=${HEAP_MIB}`] });
    await fillLargely(grid, SIZES);
  });
  afterAll(() => grid?.remove());

  it.each<[string, Identity, string, (body: any) => unknown, unknown]>([
    [
      'a listing',
      'alice',
      WIDE,
      ({ SubDirs, Files }) => [sizeOf(SubDirs), sizeOf(Files)],
      [SIZES.entries, SIZES.entries],
    ],
    [
      'a listing with replicas and attributes',
      'alice',
      `${WIDE}?verbose=true`,
      ({ SubDirs, Files }) => [sizeOf(SubDirs), sizeOf(Files)],
      [SIZES.entries, SIZES.entries],
    ],
    [
      'a listing of which half is closed',
      'carol',
      CLOSED,
      ({ SubDirs, Files }) => [sizeOf(SubDirs), Files],
      [SIZES.closed, {}],
    ],
    [
      'a search among closed directories, with exact totals',
      'carol',
      `${CLOSED}/search`,
      ({ f, s, d }) => [f, s, sizeOf(d), d.d0000001, d.d0000002],
      [SIZES.closed, 10 * SIZES.closed, SIZES.closed, { f: 1, s: 10 }, undefined],
    ],
    [
      'values beside closed directories',
      'carol',
      '/filecatalogue/metadata?maxValues=1',
      (body) => sizeOf(body) > 0 && 'many' in body,
      false,
    ],
    [
      'a field with a million values',
      'fred',
      '/filecatalogue/metadata',
      ({ many }) => [many.type, many.values.length, many.values[0], many.values.at(-1)],
      ['string', SIZES.values, '1000000'.padStart(10, 'v'), 'vvvvvvvvv9'],
    ],
  ])('%s hold nobody up, and no memory', async (_what, who, path, seen, expected) => {
    const client = await grid.as(who);
    const before = await stalls(grid);
    const { status, body } = await client.get(path);
    expect([status, seen(body)]).toEqual([200, expected]);
    expect((await stalls(grid)) - before).toBe(0);
  });
});

describe('answers about many jobs', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'warn' } });
    await fillLargely(grid, { entries: 0, closed: 0, values: 0, jobs: JOBS });
  });
  afterAll(() => grid?.remove());

  it('hold nobody up: the largest page', async () => {
    const alice = await grid.as('alice');
    const before = await stalls(grid);
    const { status, body } = await alice.get('/jobs?maxJobs=10000');
    expect([status, body.entries, body.jobs.length]).toEqual([200, JOBS, 10_000]);
    expect((await stalls(grid)) - before).toBe(0);
  });

  it('counts of each job are refused', async () => {
    const alice = await grid.as('alice');
    const before = await stalls(grid);
    const { status, body } = await alice.get('/jobs/summary?group=JobID');
    expect([status, body.code, body.violations]).toEqual([
      400,
      'request.invalid',
      [{ field: 'group', problem: expect.stringMatching(/^JobID has too many values/) }],
    ]);
    expect((await stalls(grid)) - before).toBe(0);
  });
});
