import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UsageRepository } from '../../src/jobs/usage/usage.repository.js';
import type { Database } from '../../src/database/index.js';
import { awaitFinal, awaitStatus, submit } from '../support/jobs.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const EVERYTHING = { from: '2026-01-01', to: '2026-12-31' } as const;
const PROD = { setup: 'Prod' };

describe('usage of runs', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  let repository: UsageRepository;
  beforeAll(async () => {
    scratch = await scratchDatabase();
    database = await scratch.open();
    repository = new UsageRepository(database);
  });
  afterAll(() => scratch?.remove());

  let next = 1;
  /** A run of two processors, 100 s. */
  const run = async (ended: string, more: Record<string, unknown> = {}): Promise<number> => {
    const jid = next++;
    const row: Record<string, unknown> = {
      ...{ jid, attempt: 1, noted_at: '2026-03-01T00:00:00Z', ended_at: ended, setup: 'Prod' },
      ...{ vo: '', owner_group: 'g', owner: 'a', site: 'A', is_done: true, processors: 2 },
      ...{ wall_seconds: 100, cpu_seconds: 150, used_mb: 256, given_mb: 1024, ...more },
    };
    const names = Object.keys(row);
    const places = names.map((_, index) => `$${index + 1}`).join(', ');
    await scratch.dataSource.query(
      `insert into job_runs (${names.join(', ')}) values (${places})`,
      Object.values(row),
    );
    return jid;
  };
  const fold = (limit = 100): Promise<number> =>
    database.transaction((transaction) =>
      repository.fold(transaction, new Date('2026-04-01T00:00:00Z'), limit),
    );

  it('is the same before, while and after it is added up, by the days of UTC', async () => {
    await run('2026-01-31T23:59:59.999Z');
    await run('2026-02-01T00:00:00Z', { is_done: false, cpu_seconds: null, used_mb: null });
    await run('2026-02-01T00:00:00+02:00', { owner: 'b', vo: 'v', given_mb: null });
    await run('2026-02-28T12:00:00Z', { owner_group: 'h', site: 'B' });
    await run('2026-02-28T12:00:00Z', { setup: 'Other' });
    const wanted = { ...EVERYTHING, by: ['month', 'group'] } as const;
    const expected = [
      {
        ...{ month: '2026-01', group: 'g', runs: 2, done: 2, wallSeconds: 200 },
        ...{ processorSeconds: 400, cpuSeconds: 300, measuredSeconds: 400 },
        ...{ memorySeconds: 102_400 + 25_600, memoryUsed: 25_600, memoryGiven: 102_400 },
      },
      {
        ...{ month: '2026-02', group: 'g', runs: 1, done: 0, wallSeconds: 100 },
        ...{ processorSeconds: 200, cpuSeconds: 0, measuredSeconds: 0 },
        ...{ memorySeconds: 102_400, memoryUsed: 0, memoryGiven: 0 },
      },
      {
        ...{ month: '2026-02', group: 'h', runs: 1, done: 1, wallSeconds: 100 },
        ...{ processorSeconds: 200, cpuSeconds: 150, measuredSeconds: 200 },
        ...{ memorySeconds: 102_400, memoryUsed: 25_600, memoryGiven: 102_400 },
      },
    ];
    expect(await repository.report(wanted, PROD, 10)).toEqual(expected);
    expect(await fold(2)).toBe(2);
    expect(await repository.report(wanted, PROD, 10)).toEqual(expected);
    expect(await fold()).toBe(3);
    expect(await fold()).toBe(0);
    expect(await repository.report(wanted, PROD, 10)).toEqual(expected);
    await run('2026-02-28T13:00:00Z', { owner_group: 'h', site: 'B' });
    await fold();
    const [, , last] = await repository.report(wanted, PROD, 10);
    expect(last).toMatchObject({ runs: 2, cpuSeconds: 300 });
  });

  it('is divided by job groups, until their days are long ago', async () => {
    const setup = 'Groups';
    for (const [ended, job_group] of [
      ['2026-01-10T00:00:00Z', 'x'],
      ['2026-01-10T00:00:00Z', 'y'],
      ['2026-02-10T00:00:00Z', 'x'],
    ] as const)
      await run(ended, { setup, job_group });
    const groups = async (more: object = {}): Promise<unknown> => {
      const wanted = { ...EVERYTHING, by: ['month', 'jobGroup'] as const, ...more };
      const rows = await repository.report(wanted, { setup }, 10);
      return rows.map(({ month, jobGroup, runs }) => `${month} ${jobGroup} ${runs}`);
    };
    const merge = (limit: number): Promise<number> =>
      database.transaction((transaction) =>
        repository.mergeGroups(transaction, new Date('2026-02-01T00:00:00Z'), limit),
      );
    const apart = ['2026-01 x 1', '2026-01 y 1', '2026-02 x 1'];
    expect(await groups()).toEqual(apart);
    await fold();
    expect(await groups()).toEqual(apart);
    expect(await groups({ jobGroup: 'x' })).toEqual(['2026-01 x 1', '2026-02 x 1']);
    expect([await merge(1), await merge(9), await merge(9)]).toEqual([1, 1, 0]);
    expect(await groups()).toEqual(['2026-01  2', '2026-02 x 1']);
  });

  it('is shown to each as far as they may see, and as it was asked for', async () => {
    const owners = async (visibility: object, more: object = {}): Promise<unknown> => {
      const wanted = { ...EVERYTHING, by: ['owner', 'site'] as const, ...more };
      const rows = await repository.report(wanted, { ...PROD, ...visibility }, 10);
      return rows.map(({ owner, site, runs }) => `${owner} ${site} ${runs}`);
    };
    expect(await owners({})).toEqual(['a A 2', 'a B 2', 'b A 1']);
    expect(await owners({ setup: 'Other' })).toEqual(['a A 1']);
    expect(await owners({ owner: 'b' })).toEqual(['b A 1']);
    const ofGroup = (vo: string): object => ({ owner: 'b', group: { name: 'h', vo } });
    expect(await owners(ofGroup(''))).toEqual(['a B 2', 'b A 1']);
    expect(await owners(ofGroup('elsewhere'))).toEqual(['b A 1']);
    expect(await owners({ owner: 'nobody', vo: 'v' })).toEqual(['b A 1']);
    expect(await owners({}, { group: 'h' })).toEqual(['a B 2']);
    expect(await owners({}, { site: 'A', owner: 'b' })).toEqual(['b A 1']);
    expect(await owners({}, { from: '2026-01-31', to: '2026-01-31' })).toEqual(['a A 1', 'b A 1']);
    expect(await owners({}, { from: '2026-03-01' })).toEqual([]);
  });
});

describe('GET /jobs/usage', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_GLOBAL_JOBS: 'false', GRID_ENERGY_PUE: '2' } });
    [alice, bob] = [await grid.as('alice'), await grid.as('bob')];
  });
  afterAll(() => grid?.remove());

  const script = (text: string) => ({
    ...{ Executable: '/bin/sh', Arguments: ['-c', text], Sites: 'LOCAL.demo' },
  });

  it('has what runs used that went well, failed and were killed, each once', async () => {
    const JobGroup = 'tuning';
    const jids = await submit(alice, [
      ...[script('exit 0'), script('exit 3'), { ...script('exit 0'), JobGroup }],
    ]);
    await awaitFinal(alice, jids);
    const [victim = 0] = await submit(alice, [{ ...script('sleep 600'), JobGroup }]);
    await awaitStatus(alice, victim, ['Running']);
    await alice.delete(`/jobs/${victim}`);
    const [his = 0] = await submit(bob, [script('exit 0')]);
    await awaitFinal(bob, [his]);
    const report = await eventually(async () => {
      const { status, body } = await alice.get('/jobs/usage?by=owner,site');
      expect(status).toBe(200);
      return body.total.runs === 4 && body; // a killed run is written down when its processes are gone
    }, 'four runs');
    const today = new Date().toISOString().slice(0, 10);
    const figures = {
      ...{ runs: 4, done: 2, wallHours: expect.any(Number), processorHours: expect.any(Number) },
      ...{ cpuHours: expect.any(Number), cpuEfficiency: expect.any(Number) },
      ...{ memoryEfficiency: null, energy: expect.any(Number) },
    };
    expect(report).toEqual({
      from: `${today.slice(0, 7)}-01`,
      to: today,
      energy: { processorWatts: 12, memoryWattsPerGB: 0.3725, pue: 2 },
      total: { ...figures, memoryEfficiency: report.total.memoryEfficiency },
      rows: [
        {
          ...{ owner: 'alice', site: 'LOCAL.demo', ...figures },
          memoryEfficiency: report.total.memoryEfficiency,
        },
      ],
    });
    expect(report.rows[0].energy).toBe(report.total.energy);
    const { body: groups } = await alice.get('/jobs/usage?by=jobGroup');
    expect(groups.rows.map((row: any) => [row.jobGroup, row.runs])).toEqual([
      ['00000000', 2],
      ['tuning', 2],
    ]);
    const { body: one } = await alice.get('/jobs/usage?by=&jobGroup=tuning');
    expect(one.total).toMatchObject({ runs: 2, done: 1 });
    expect((await alice.get(`/jobs/${jids[0]}/parameters`)).body).toMatchObject({
      'Energy(Wh)': expect.any(Number),
    });
    const { body: all } = await (await grid.as('mona', 'grid_mon')).get('/jobs/usage?by=owner');
    expect(all.rows.map((row: any) => [row.owner, row.runs])).toEqual([
      ['alice', 4],
      ['bob', 1],
    ]);
  });

  it('keeps them when the jobs are deleted, and is a table for who asks for one', async () => {
    const before = (await alice.get('/jobs/usage?by=')).body;
    expect(before.rows).toEqual([before.total]);
    for (const { jid } of (await alice.get('/jobs')).body.jobs) {
      await alice.delete(`/jobs/${jid}?purge=true`);
    }
    expect((await alice.get('/jobs/usage?by=')).body).toEqual(before);
    const csv = await alice.get('/jobs/usage?by=group', { headers: { accept: 'text/csv' } });
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      vary: expect.stringContaining('Accept'),
    });
    expect(String(csv.bytes).split('\r\n')).toEqual([
      'group,runs,done,wall_hours,processor_hours,cpu_hours,cpu_efficiency_percent,memory_efficiency_percent,energy_kwh',
      expect.stringMatching(/^grid_user,4,2,/),
      '',
    ]);
  });

  it('refuses times and keys that are none', async () => {
    const refused = async (query: string): Promise<unknown> => {
      const { status, body } = await alice.get(`/jobs/usage?${query}`);
      return [status, body.code, body.violations?.[0]];
    };
    const invalid = (field: string, problem: string): unknown => [
      400,
      'request.invalid',
      { field, problem },
    ];
    const NO_TIME = 'is neither a month, 2026-01, nor a day, 2026-01-31';
    expect(await refused('from=2026-02-30')).toEqual(invalid('from', NO_TIME));
    expect(await refused('from=0000-01')).toEqual(invalid('from', NO_TIME));
    expect(await refused('to=2026-13')).toEqual(invalid('to', NO_TIME));
    expect(await refused('to=yesterday')).toEqual(invalid('to', NO_TIME));
    expect(await refused('from=2026-02&to=2026-01')).toEqual(invalid('to', 'lies before `from`'));
    expect(await refused('by=month,colour')).toEqual(
      invalid('by', 'has "colour"; known are month, day, vo, group, owner, site, jobGroup'),
    );
    const { body } = await alice.get('/jobs/usage?from=2025-02&to=2025-02&by=site,day,day');
    expect(body).toMatchObject({ from: '2025-02-01', to: '2025-02-28', rows: [] });
    expect(body.total).toMatchObject({ runs: 0, cpuEfficiency: null, energy: 0 });
  });
});
