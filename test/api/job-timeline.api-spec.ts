import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { submit } from '../support/jobs.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

interface Series {
  status: string;
  group?: string;
  counts: number[];
}

describe('GET /jobs/timeline', () => {
  let grid: Grid;
  let alice: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_GLOBAL_JOBS: 'false' } });
    alice = await grid.as('alice');
    const manifests = Array.from({ length: 4 }, (_, index) => ({
      Executable: '/bin/true',
      JobName: `job ${index}`,
    }));
    await submit(alice, manifests);
    await submit(await grid.as('bob'), [{ Executable: '/bin/true' }]);
    await grid.sql('delete from job_history');
    // Minutes of 2026-01-01; the last job has not moved since the year before.
    const lives: [number, [number, string][]][] = [
      [
        1,
        [
          [0, 'Waiting'],
          [5, 'Running'],
          [25, 'Done'],
        ],
      ],
      [
        2,
        [
          [1, 'Waiting'],
          [9, 'Running'],
          [9, 'Failed'],
          [19, 'Waiting'],
        ],
      ],
      [
        3,
        [
          [10, 'Waiting'],
          [10, 'Matched'],
          [11, 'Running'],
          [31, 'Done'],
        ],
      ],
      [4, [[-9999, 'Waiting']]],
      [5, [[0, 'Waiting']]],
    ];
    for (const [jid, moves] of lives) {
      for (const [minute, status] of moves) {
        await grid.sql(
          `insert into job_history (jid, status, minor_status, app_status, time, source)
            values ($1, $2, '', '', '2026-01-01T00:00Z'::timestamptz + make_interval(mins => $3), 'REST')`,
          [jid, status, minute],
        );
      }
      await grid.sql(
        `update jobs set (status, last_update) = (select status, time from job_history h where h.jid = $1
          order by id desc limit 1), site = case when $1 < 3 then 'LOCAL.demo' else 'ANY' end where jid = $1`,
        [jid],
      );
    }
  });
  afterAll(() => grid?.remove());

  const ask = async (query: Record<string, string | number>, client = alice) => {
    const answer = await client.get<{ series: Series[] }>('/jobs/timeline', { query });
    return [answer.status, answer.body] as const;
  };
  const window = { from: '2026-01-01', to: '2026-01-01T00:30Z', step: 600 };

  it('counts jobs by the state in which they were at each step', async () => {
    expect(await ask(window)).toEqual([
      200,
      {
        from: '2026-01-01T00:00:00.000Z',
        to: '2026-01-01T00:30:00.000Z',
        step: 600,
        series: [
          { status: 'Waiting', counts: [2, 1, 2, 2] },
          { status: 'Failed', counts: [0, 1, 0, 0] },
          { status: 'Matched', counts: [0, 1, 0, 0] },
          { status: 'Running', counts: [0, 1, 2, 1] },
          { status: 'Done', counts: [0, 0, 0, 1] },
        ],
      },
    ]);
  });

  it('divides the counts by an attribute', async () => {
    const [status, { series }] = await ask({ ...window, step: 1800, group: 'Site' });
    expect([status, series]).toEqual([
      200,
      [
        { status: 'Waiting', group: 'ANY', counts: [1, 1] },
        { status: 'Waiting', group: 'LOCAL.demo', counts: [1, 1] },
        { status: 'Done', group: 'LOCAL.demo', counts: [0, 1] },
        { status: 'Running', group: 'ANY', counts: [0, 1] },
      ],
    ]);
  });

  it('takes the filters of lists, and shows what lists show', async () => {
    const of = async (query: object, client = alice) =>
      (await ask({ ...window, step: 1800, ...query }, client))[1].series;
    expect(await of({ name: 'job 0' })).toEqual([
      { status: 'Waiting', counts: [1, 0] },
      { status: 'Done', counts: [0, 1] },
    ]);
    expect(await of({ Status: 'Waiting', jid: 4 })).toEqual([
      { status: 'Waiting', counts: [1, 1] },
    ]);
    const waiting = async (query: object, client = alice) => (await of(query, client))[0]?.counts;
    expect(await waiting({ allOwners: 'true' })).toEqual([2, 2]);
    expect(await waiting({ allOwners: 'true' }, await grid.as('adam'))).toEqual([3, 3]);
    expect(await waiting({}, await grid.as('bob'))).toEqual([1, 1]);
    expect(await of({}, await grid.as('mona'))).toEqual([]);
  });

  it('shows the last day in a hundred steps unless told otherwise', async () => {
    const before = Date.now();
    const [status, body] = await ask({});
    const { from, to, step } = body as unknown as { from: string; to: string; step: number };
    expect([status, step]).toEqual([200, 864]);
    expect(Date.parse(to)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000);
  });

  it.each([
    [{ from: '2026-01-01', step: 1 }, 'step', 'is too short: there would be more than 1000 steps'],
    [{ step: 0 }, 'step', 'must be at least 1'],
    [{ step: 999_999_999_999 }, 'step', 'must be at most 315360000'],
    [{ step: 'hour' }, 'step', 'is not a whole number'],
    [{ from: '2999-01-01' }, 'from', 'must be before `to` and in the past'],
    [{ from: '2026-01-02', to: '2026-01-01' }, 'from', 'must be before `to` and in the past'],
    [{ from: '0001-01-01T00:00:00+01:00' }, 'from', 'is not an ISO 8601 date or time'],
    [{ from: 'yesterday' }, 'from', 'is not an ISO 8601 date or time'],
    [{ group: 'colour' }, 'group', 'colour is not an attribute of jobs'],
    [{ group: 'lastUpdate' }, 'group', 'lastUpdate is a time'],
    [{ maxJobs: 3 }, 'maxJobs', 'is not known here'],
  ])('refuses %j', async (query, field, problem) => {
    const [status, body] = await ask(query);
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ violations: [{ field, problem }] }),
    ]);
  });

  it('refuses attributes with too many values', async () => {
    await grid.sql(
      `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name,
         job_group, job_type, site, priority, cpu_time, submission_time, last_update)
       select setup, owner, owner_dn, owner_group, vo, 'Done', '', 'many ' || i,
         job_group, job_type, site, priority, cpu_time, submission_time, '2026-01-01'
       from jobs, generate_series(1, 200) i where jid = 4`,
    );
    const [status, body] = await ask({ ...window, group: 'JobName' });
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({
        violations: [
          { field: 'group', problem: 'has too many values: there would be more than 200 series' },
        ],
      }),
    ]);
    expect((await grid.anonymous.get('/jobs/timeline')).status).toBe(401);
  });
});
