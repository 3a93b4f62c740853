import { submit } from '../support/jobs.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

/** Jobs of each of the two owners: more than the two blocks of 8,192 ids that a deep page jumps over. */
const MANY = 16_000;
const LIMIT = 3;

describe('pages of GET /jobs', () => {
  let grid: Grid;
  let alice: GridClient;
  /** Ids of alice's jobs, newest first. */
  let jids: number[];

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_MAX_JOBS: String(LIMIT) } });
    alice = await grid.as('alice');
    const held = { Executable: '/bin/true', Sites: ['NO.where'] };
    const [model = 0] = await submit(alice, [held]);
    await fill(model);
    const rows = await grid.sql(`select jid from jobs where owner = 'alice' order by jid desc`);
    jids = rows.map(({ jid }) => Number(jid));
  });
  afterAll(async () => grid.remove());

  /**
   * Ended jobs made after a model: every second one is of bob, every third one has failed, and a stretch of ids in the
   * middle has none, so that blocks hold different numbers.
   */
  async function fill(model: number): Promise<void> {
    await grid.sql(
      `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name,
         job_group, job_type, site, priority, cpu_time, submission_time, last_update)
       select setup, case when i % 2 = 0 then 'bob' else owner end, owner_dn, owner_group, vo,
         case when i % 3 = 0 then 'Failed' else 'Done' end, 'made', name, job_group, job_type,
         'LOCAL.demo', priority, cpu_time, submission_time, last_update
       from jobs, generate_series(1, ${2 * MANY}) i where jid = $1 order by i`,
      [model],
    );
    await grid.sql('delete from jobs where jid between 17000 and 18000');
  }

  const page = async (
    query: Record<string, string | number>,
  ): Promise<{ entries: number; jids: number[]; link: string | undefined }> => {
    const { status, body, headers } = await alice.get('/jobs', { query });
    expect(status).toBe(200);
    return {
      entries: body.entries,
      jids: body.jobs.map((job: { jid: number }) => job.jid),
      link: /<[^>]*(\/jobs\?[^>]*)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1],
    };
  };

  it('hold GRID_MAX_JOBS jobs at most, also without maxJobs', async () => {
    expect((await page({})).jids).toEqual(jids.slice(0, LIMIT));
    expect((await page({ maxJobs: LIMIT + 1 })).jids).toEqual(jids.slice(0, LIMIT));
    expect((await page({ maxJobs: LIMIT - 1 })).jids).toEqual(jids.slice(0, LIMIT - 1));
  });

  it('show every job as its record alone does', async () => {
    await grid.sql(
      `update jobs set name = $1, vo = '', heart_beat = last_update + interval '1.5 seconds',
         reschedule_time = last_update, app_status = 'half' where jid = $2`,
      ['a "quoted" \\ name\n\u0001 é 𝒳', jids[0]],
    );
    const { body } = await alice.get('/jobs');
    expect(body.jobs).toHaveLength(LIMIT);
    for (const job of body.jobs) {
      expect(job).toEqual((await alice.get(`/jobs/${job.jid}`)).body);
    }
    const { vo, times, ...first } = body.jobs[0];
    expect({ name: first.name, appStatus: first.appStatus, vo }).toEqual({
      name: 'a "quoted" \\ name\n\u0001 é 𝒳',
      appStatus: 'half',
      vo: undefined,
    });
    const beat = Date.parse(times.lastUpdate) + 1500;
    expect([Date.parse(times.heartBeat), Date.parse(times.lastSOL)]).toEqual([beat, beat]);
    expect(times.reschedule).toBe(times.lastUpdate);
  });

  it.each([499, 501, 4095, 8191, 8192, 8193, 10_000, 10_900])(
    'begin behind exactly startJob = %d jobs',
    async (startJob) => {
      const expected = jids.slice(startJob, startJob + LIMIT);
      expect(expected).toHaveLength(LIMIT);
      expect(await page({ startJob })).toEqual({
        entries: jids.length,
        jids: expected,
        link: expect.any(String),
      });
    },
  );

  it('begin at the first and the last job of each block, and next to them', async () => {
    const edges = jids.flatMap((jid, index) =>
      index >= 8192 && jid >> 13 !== (jids[index - 1] ?? 0) >> 13
        ? [index - 1, index, index + 1]
        : [],
    );
    expect(edges.length).toBeGreaterThan(0);
    for (const startJob of edges) {
      expect((await page({ startJob })).jids).toEqual(jids.slice(startJob, startJob + LIMIT));
    }
  });

  it('count what a filter leaves', async () => {
    const rows = await grid.sql(
      `select jid from jobs where status = 'Done' and setup = 'Prod' and vo = 'vo' order by jid desc`,
    );
    const mona = await grid.as('mona');
    const query = { allOwners: true, status: 'Done', startJob: 9001 };
    const { body } = await mona.get('/jobs', { query });
    expect(body.entries).toBe(rows.length);
    expect(body.jobs.map((job: { jid: number }) => job.jid)).toEqual(
      rows.slice(9001, 9001 + LIMIT).map(({ jid }) => Number(jid)),
    );
  });

  it('name the next page only when something follows', async () => {
    const total = jids.length;
    const last = { entries: total, jids: jids.slice(total - LIMIT), link: undefined };
    expect(await page({ startJob: total - LIMIT })).toEqual(last);
    expect(await page({ startJob: total })).toEqual({ entries: total, jids: [], link: undefined });
    const before = await page({ startJob: total - LIMIT - 1 });
    expect(before.jids).toEqual(jids.slice(total - LIMIT - 1, total - 1));
    const next = await alice.get(before.link ?? '');
    expect(next.body.jobs.map((job: { jid: number }) => job.jid)).toEqual(jids.slice(total - 1));
    expect(next.headers['link']).toBeUndefined();
  });

  it('name no next page behind a full last one that the cursor has reached', async () => {
    const query = { startJob: jids.length - 2 * LIMIT };
    const next = await alice.get((await page(query)).link ?? '');
    expect(next.body.jobs.map((job: { jid: number }) => job.jid)).toEqual(jids.slice(-LIMIT));
    expect(next.headers['link']).toBeUndefined();
  });
});
