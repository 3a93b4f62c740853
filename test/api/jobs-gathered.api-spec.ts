import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const MANY = 40;

describe('submits that come together', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api' } });
    [alice, bob] = await Promise.all([grid.as('alice'), grid.as('bob')]);
  });
  afterAll(async () => grid.remove());

  const submitAll = (name: string) =>
    Promise.all(
      Array.from({ length: MANY }, (_, index) => {
        const json = { Executable: '/bin/true', JobName: `${name}-${index}` };
        return (index % 2 === 0 ? alice : bob).post('/jobs', { json });
      }),
    );

  /** The same, none of which is written before all have arrived. */
  const submitTogether = async (name: string): ReturnType<typeof submitAll> => {
    const { anonymous } = grid;
    const blocker = await grid.connection();
    try {
      await blocker.query('begin');
      await blocker.query('lock table jobs in share mode');
      const answers = submitAll(name);
      await eventually(async () => {
        const { body } = await anonymous.get<string>('/metrics');
        const counts = body.matchAll(
          /^gridgate_caller_requests\{state="(?:working|waiting)"\} (\d+)$/gm,
        );
        return [...counts].reduce((sum, [, count]) => sum + Number(count), 0) >= MANY;
      }, 'all submits to arrive');
      await blocker.query('commit');
      return await answers;
    } finally {
      await blocker.end();
    }
  };

  it('are few transactions, and everybody gets the id of their own job', async () => {
    const answers = await submitTogether('each');
    expect(answers.map(({ status }) => status)).toEqual(Array(MANY).fill(200));
    const rows = await grid.sql<{ jid: string; name: string; owner: string; xmin: string }>(
      `select jid, name, owner, xmin::text from jobs where name like 'each-%'`,
    );
    const found = new Map(rows.map((row) => [row.name, row]));
    const expected = answers.map(({ body }, index) => ({
      jid: String(body.jids[0]),
      owner: index % 2 === 0 ? 'alice' : 'bob',
    }));
    const stored = answers.map((_answer, index) => found.get(`each-${index}`));
    expect(stored.map((row) => ({ jid: String(row?.jid), owner: row?.owner }))).toEqual(expected);
    expect(new Set(rows.map(({ xmin }) => xmin)).size).toBeLessThan(MANY / 2);
  });

  it('leave what a submit alone leaves: record, manifest, history and parameters', async () => {
    const [first] = await submitAll('whole');
    const [jid] = first?.body.jids as [number];
    const alone = await alice.post('/jobs', {
      json: { Executable: '/bin/true', JobName: 'whole-0' },
      headers: { 'Idempotency-Key': 'alone' },
    });
    const [other] = alone.body.jids as [number];
    for (const part of ['', '/history', '/manifest', '/parameters']) {
      const [one, two] = await Promise.all(
        [jid, other].map((id) => alice.get(`/jobs/${id}${part}`)),
      );
      expect(unlike(one?.body)).toEqual(unlike(two?.body));
    }
    const counted = await alice.get('/jobs/summary', { query: { JobName: 'whole-0' } });
    expect(counted.body).toEqual({ Waiting: 2 });
  });

  it('do not share a fault: whose job the database refuses is told so, all others have theirs', async () => {
    await grid.sql(`create function refuse_one() returns trigger language plpgsql as
      $$ begin raise exception 'no'; end $$`);
    await grid.sql(`create trigger refuse_one before insert on jobs for each row
      when (new.name = 'some-7') execute function refuse_one()`);
    const answers = await submitAll('some');
    const expected = answers.map((_answer, index) => (index === 7 ? 500 : 200));
    expect(answers.map(({ status }) => status)).toEqual(expected);
    const rows = await grid.sql<{ jid: string }>(`select jid from jobs where name like 'some-%'`);
    const jids = answers.flatMap(({ body }) => (body.jids ?? []) as number[]);
    expect(rows.map(({ jid }) => Number(jid)).sort()).toEqual([...jids].sort());
  });
});

/** Without ids and times, which differ from job to job. */
function unlike(body: unknown): unknown {
  const text = JSON.stringify(body, (key, value: unknown) =>
    ['jid', 'JobID'].includes(key) ? 0 : value,
  );
  return JSON.parse(text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then'));
}
