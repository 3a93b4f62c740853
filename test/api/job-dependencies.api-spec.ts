import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { awaitFinal, awaitStatus, show, submit } from '../support/jobs.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

describe('jobs that wait for jobs', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_LOCAL_SLOTS: '4', GRID_GLOBAL_JOBS: 'false' } });
    [alice, bob] = [await grid.as('alice'), await grid.as('bob')];
  });
  afterAll(() => grid?.remove());

  const good = { Executable: '/bin/true' };
  const bad = { Executable: '/bin/false' };
  const stuck = { Executable: '/bin/true', Tags: ['nowhere'] };
  const outcome = async (jid: number): Promise<string[]> => {
    const { status, minorStatus } = await show(alice, jid);
    return [status, minorStatus];
  };
  const faults = async (manifests: object[], client = alice): Promise<unknown> => {
    const { status, body } = await client.post('/jobs', { json: { manifests } });
    return [status, body.violations];
  };

  it('wait, are explained, and run after a diamond of others', async () => {
    const [first = 0] = await submit(alice, [stuck]);
    const [a = 0, b = 0, c = 0, d = 0] = await submit(alice, [
      { ...good, Label: 'a', After: [{ jid: first, on: 'end' }] },
      { ...good, Label: 'b', After: [{ label: 'a' }] },
      { ...good, Label: 'c', After: [{ label: 'a', on: 'done' }] },
      { ...good, After: [{ label: 'b' }, { label: 'c', on: 'end' }] },
    ]);
    for (const jid of [a, b, c, d]) {
      expect(await outcome(jid)).toEqual(['Waiting', 'Waiting for other jobs']);
    }
    const { body } = await alice.get(`/jobs/${a}/explain`);
    expect(body).toEqual({
      jid: a,
      status: 'Waiting',
      waitsFor: `Other jobs: ${first} (end; it is Waiting)`,
      sites: {
        'LOCAL.demo': 'The job waits for other jobs',
        'LOCAL.spare': 'The job waits for other jobs',
      },
    });
    expect((await alice.post(`/jobs/${a}/reschedule`)).status).toBe(409);
    expect((await alice.post(`/jobs/${a}/hold`)).status).toBe(200);
    expect((await alice.post(`/jobs/${a}/release`)).status).toBe(200);
    await alice.delete(`/jobs/${first}`);
    await awaitFinal(alice, [a, b, c, d]);
    const rows = await grid.sql(
      `select jid, status, start_execution from jobs where jid = any($1) order by start_execution`,
      [[a, b, c, d]],
    );
    expect(rows.map(({ status }) => status)).toEqual(['Done', 'Done', 'Done', 'Done']);
    expect([Number(rows[0]?.jid), Number(rows[3]?.jid)]).toEqual([a, d]);
  });

  it('fail when a condition cannot come true, and their own dependents follow', async () => {
    const [first = 0, second = 0, third = 0, never = 0] = await submit(alice, [
      { ...bad, Label: 'first' },
      { ...good, Label: 'second', After: [{ label: 'first' }] },
      { ...good, After: [{ label: 'second', on: 'failed' }] },
      { ...good, After: [{ label: 'second' }] },
    ]);
    await awaitFinal(alice, [first, second, third, never]);
    expect(await outcome(second)).toEqual(['Failed', 'Dependency failed']);
    expect((await outcome(third))[0]).toBe('Done');
    expect(await outcome(never)).toEqual(['Failed', 'Dependency failed']);
    const late = await submit(alice, [
      { ...good, After: [{ jid: first, on: 'failed' }] },
      { ...good, After: [{ jid: first }] },
    ]);
    await awaitFinal(alice, late);
    expect((await outcome(late[0] ?? 0))[0]).toBe('Done');
    expect(await outcome(late[1] ?? 0)).toEqual(['Failed', 'Dependency failed']);
  });

  it('are judged again when they are rescheduled', async () => {
    const [first = 0, second = 0] = await submit(alice, [
      { Executable: '/bin/false', Label: 'x' },
      { ...good, After: [{ label: 'x' }] },
    ]);
    await awaitFinal(alice, [first, second]);
    await grid.sql(`update jobs set tags = '{nowhere}' where jid = $1`, [first]);
    expect((await alice.post(`/jobs/${first}/reschedule`)).status).toBe(200);
    await awaitStatus(alice, first, ['Waiting']);
    expect((await alice.post(`/jobs/${second}/reschedule`)).status).toBe(200);
    await awaitStatus(alice, second, ['Waiting']);
    expect(await outcome(second)).toEqual(['Waiting', 'Waiting for other jobs']);
    await alice.delete(`/jobs/${first}`);
    await awaitFinal(alice, [second]);
    expect(await outcome(second)).toEqual(['Failed', 'Dependency failed']);
  });

  it('are released in parts when very many wait for one, and others are not held up', async () => {
    const [first = 0, other = 0] = await submit(alice, [stuck, stuck]);
    const many = { ...stuck, Parameters: 700, After: [{ jid: first, on: 'end' }] };
    const waiting = await submit(alice, [many, many, many]);
    const [last = 0] = await submit(alice, [{ ...good, After: [{ jid: other, on: 'failed' }] }]);
    await alice.delete('/jobs', { query: { jid: [String(first), String(other)] } });
    await awaitFinal(alice, [last]);
    await eventually(
      async () => (await grid.sql('select from job_dependency_news')).length === 0,
      'all news to be read',
    );
    const rows = await grid.sql(
      `select held_by, status, count(*)::integer as n from jobs where jid = any($1) group by 1, 2`,
      [waiting],
    );
    expect(rows).toEqual([{ held_by: null, status: 'Waiting', n: 2_100 }]);
    expect(await grid.sql('select distinct outcome from job_dependencies')).not.toContainEqual({
      outcome: null,
    });
  });

  it('of one owner do not wait for the many conditions of another one', async () => {
    const [array = 0] = await submit(alice, [stuck]);
    const [hers = 0] = await submit(alice, [{ ...good, After: [{ jid: array, on: 'failed' }] }]);
    const [shared = 0, his = 0] = await submit(bob, [
      { ...stuck, Label: 'first' },
      { ...good, After: [{ label: 'first', on: 'failed' }] },
    ]);
    // 200 jobs of hers that end at once, and 100 that wait for all of them; and as many that wait for the other's.
    await grid.sql(
      `insert into job_dependencies (jid, owner, target, condition)
        select -w, 'alice', -t, 'end' from generate_series(1, 100) w, generate_series(1001, 1200) t`,
    );
    await grid.sql(
      `insert into job_dependencies (jid, owner, target, condition)
        select -w, 'alice', $1, 'end' from generate_series(1, 20000) w`,
      [shared],
    );
    await grid.sql(
      `insert into job_dependency_news (jid, what, upto, owner)
        select -t, 'Done', max(d.id), 'alice' from generate_series(1001, 1200) t, job_dependencies d group by t`,
    );
    await bob.delete(`/jobs/${shared}`);
    await awaitFinal(bob, [his]);
    const [left] = await grid.sql<{ n: string }>(
      `select count(*) as n from job_dependencies where owner = 'alice' and outcome is null`,
    );
    expect(Number(left?.n)).toBeGreaterThan(20_000);
    expect((await show(alice, hers)).status).toBe('Waiting');
    await grid.sql(
      `begin; lock table job_dependency_news; delete from job_dependencies where jid < 0; commit`,
    );
    await alice.delete(`/jobs/${array}`);
    await awaitFinal(alice, [hers]);
  });

  it('stay held by an administrator when their owner reschedules them', async () => {
    const adam = await grid.as('adam');
    const [first = 0, second = 0] = await submit(alice, [
      { ...bad, Tags: ['nowhere'], Label: 'x' },
      { ...good, After: [{ label: 'x' }] },
    ]);
    expect((await adam.post(`/jobs/${second}/hold`)).status).toBe(200);
    await grid.sql(`update jobs set tags = '{}' where jid = $1`, [first]);
    await awaitFinal(alice, [first, second]);
    expect(await outcome(second)).toEqual(['Failed', 'Dependency failed']);
    await grid.sql(`update job_dependencies set outcome = 'met' where jid = $1`, [second]);
    expect((await alice.post(`/jobs/${second}/reschedule`)).status).toBe(200);
    await awaitStatus(alice, second, ['Waiting']);
    expect(await outcome(second)).toEqual(['Waiting', 'Held by an administrator']);
    expect((await alice.post(`/jobs/${second}/release`)).status).toBe(403);
    expect((await adam.post(`/jobs/${second}/release`)).status).toBe(200);
    await awaitFinal(alice, [second]);
    expect((await outcome(second))[0]).toBe('Done');
  });

  it('are refused with the place of the fault', async () => {
    const [own = 0] = await submit(alice, [stuck]);
    const unknown = { field: 'After[0].jid', problem: `there is no job ${own}` };
    expect(await faults([{ ...good, After: [{ jid: own }] }], bob)).toEqual([400, [unknown]]);
    expect(await faults([{ ...good, After: [{ jid: 999_999 }] }])).toEqual([
      400,
      [{ field: 'After[0].jid', problem: 'there is no job 999999' }],
    ]);
    const cases: [object, string, string][] = [
      [{ After: 7 }, 'After', 'must be a list of objects with jid or label, and on'],
      [{ After: [7] }, 'After[0]', 'must be an object with jid or label, and on'],
      [{ After: [{}] }, 'After[0]', 'must have either jid or label'],
      [{ After: [{ jid: own, label: 'a' }] }, 'After[0]', 'must have either jid or label'],
      [{ After: [{ jid: 'x' }] }, 'After[0].jid', 'is not a job id'],
      [{ After: [{ jid: own, on: 'x' }] }, 'After[0].on', 'must be one of done, failed, end'],
      [{ After: [{ label: 'a' }] }, 'After[0].label', 'is the label of no job of the request'],
      [{ Label: '' }, 'Label', 'is empty'],
      [{ Label: 'a', Parameters: 2 }, 'Label', 'names one job, but the manifest makes several'],
    ];
    for (const [keys, field, problem] of cases) {
      expect(await faults([{ ...good, ...keys }])).toEqual([400, [{ field, problem }]]);
    }
    const circle = [
      { ...good, Label: 'a', After: [{ label: 'b' }] },
      { ...good, Label: 'b', After: [{ label: 'a' }] },
    ];
    const [status] = (await faults(circle)) as [number];
    expect(status).toBe(400);
    const [twice] = (await faults([
      { ...good, Label: 'a' },
      { ...good, Label: 'a' },
    ])) as [number];
    expect(twice).toBe(400);
    const dry = await alice.post('/jobs?dryRun=true', { json: { manifests: circle } });
    expect(dry.status).toBe(400);
  });
});
