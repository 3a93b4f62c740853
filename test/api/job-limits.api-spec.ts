import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { awaitFinal, awaitStatus, submit } from '../support/jobs.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

interface Explained {
  status: string;
  waitsFor: string;
  sites: Record<string, string>;
}

describe('limits of jobs', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_LOCAL_SLOTS: '8' } });
    [alice, bob] = [await grid.as('alice'), await grid.as('bob')];
    await grid.sql(
      `insert into registry_site (name, position, backend, options, slots, tags)
        values ('LOCAL.one', 3, 'local-process', '{}', 20, '{big}')`,
    );
  });
  afterAll(() => grid?.remove());

  const limit = (table: string, name: string, limits: object | null) =>
    grid.sql(`update registry_${table} set limits = $2 where name = $1`, [
      name,
      limits && JSON.stringify(limits),
    ]);
  /** Waits for nothing but its end. */
  const sleeper = { Executable: '/bin/sleep', Arguments: '600', Sites: 'LOCAL.one' };
  /** Waits for ever: no site has that. */
  const stuck = { Executable: '/bin/true', Tags: 'nowhere' };
  const post = (client: GridClient, body: object, more: object = {}) =>
    client.post<Record<string, unknown>>('/jobs', { json: body, ...more });
  const count = async (): Promise<number> =>
    Number((await grid.sql<{ n: string }>('select count(*) as n from jobs'))[0]?.n);
  const kill = async (client: GridClient): Promise<void> => {
    const { body } = await client.get<{ jobs: { jid: number; status: string }[] }>(
      '/jobs?status=Waiting&status=Running&status=Matched',
    );
    for (const { jid } of body.jobs) await client.delete(`/jobs/${jid}`);
    await awaitFinal(
      client,
      body.jobs.map(({ jid }) => jid),
    );
  };
  const refused = (
    of: string,
    numbers: { limit: number; waiting?: number; submitted: number },
  ) => ({
    type: expect.any(String),
    title: 'The limit of waiting jobs is reached',
    status: 429,
    code: 'job.limit',
    detail: `The limit of ${of} is ${numbers.limit} waiting jobs${
      numbers.waiting === undefined ? '' : `, and ${numbers.waiting} wait`
    }: ${numbers.submitted === 1 ? '1 more is' : `${numbers.submitted} more are`} too many`,
    limitOf: of,
    ...numbers,
    instance: expect.any(String),
  });

  it('of waiting ones refuse a submit that goes beyond, and nothing is stored', async () => {
    await limit('group', 'grid_user', { waiting: 5, ownerWaiting: 3 });
    await eventually(
      async () => (await post(alice, { manifests: Array(6).fill(stuck) })).status === 429,
      'the limit to be known',
    );
    const before = await count();
    const of = 'alice in group grid_user';
    for (const path of ['/jobs', '/jobs?dryRun=true']) {
      const answer = await alice.post(path, { json: { manifests: Array(4).fill(stuck) } });
      expect(answer.body).toEqual(refused(of, { limit: 3, waiting: 0, submitted: 4 }));
      expect([answer.status, answer.headers['retry-after']]).toEqual([429, '60']);
    }
    const parametric = { ...stuck, Parameters: 4, ParameterStart: 0, ParameterStep: 1 };
    expect((await post(alice, parametric)).body).toEqual(
      refused(of, { limit: 3, waiting: 0, submitted: 4 }),
    );
    expect(await count()).toBe(before);
    await submit(alice, [stuck, stuck, stuck]);
    expect((await post(alice, stuck)).body).toEqual(
      refused(of, { limit: 3, waiting: 3, submitted: 1 }),
    );
    await submit(bob, [stuck, stuck]);
    expect((await post(bob, stuck)).body).toEqual(
      refused('group grid_user', { limit: 5, waiting: 5, submitted: 1 }),
    );
    expect(await count()).toBe(before + 5);
  });

  it('do not burn the key of a refused request, and repeat the answer of one that was taken', async () => {
    const headers = { 'Idempotency-Key': 'again' };
    expect((await post(alice, stuck, { headers })).status).toBe(429);
    await kill(alice);
    const taken = await post(alice, stuck, { headers });
    expect(taken.status).toBe(200);
    await submit(alice, [stuck, stuck]);
    expect((await post(alice, stuck)).status).toBe(429);
    expect((await post(alice, stuck, { headers })).body).toEqual(taken.body);
    await kill(alice);
    await kill(bob);
  });

  it('are kept by requests that come at once', async () => {
    await limit('group', 'grid_user', { waiting: 10 });
    await eventually(
      async () => (await post(alice, { manifests: Array(11).fill(stuck) })).status === 429,
      'the limit to be known',
    );
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, number) =>
        post(number % 2 ? alice : bob, { manifests: [stuck, stuck] }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array<number>(5).fill(200),
      ...Array<number>(7).fill(429),
    ]);
    await kill(alice);
    await kill(bob);
  });

  it('count at a site the jobs that name it alone, and of a user those of all groups', async () => {
    await limit('group', 'grid_user', null);
    await limit('user', 'bob', { waiting: 0 });
    await limit('site', 'LOCAL.one', { running: 0, waiting: 1 });
    await eventually(async () => (await post(bob, stuck)).status === 429, 'the limit to be known');
    expect((await post(bob, stuck)).body).toEqual(
      refused('user bob', { limit: 0, waiting: 0, submitted: 1 }),
    );
    await limit('user', 'bob', null);
    const here = { ...sleeper, Tags: 'big' };
    const [jid = 0] = await submit(alice, [here]);
    expect((await post(alice, { manifests: [here, stuck] })).body).toEqual(
      refused('site LOCAL.one', { limit: 1, submitted: 1 }),
    );
    const { body } = await alice.get<Explained>(`/jobs/${jid}/explain`);
    expect([body.waitsFor, body.sites['LOCAL.one']]).toEqual([
      'The end of other jobs. The limit of the site is reached: 0 jobs at once',
      'The limit of the site is reached: 0 jobs at once',
    ]);
    await limit('site', 'LOCAL.one', { tags: { big: 1 } });
    await awaitStatus(alice, jid, ['Running']);
    const [second = 0] = await submit(alice, [here]);
    const explained = await alice.get<Explained>(`/jobs/${second}/explain`);
    expect(explained.body.sites['LOCAL.one']).toBe(
      'The limit of the site for tag big is reached: 1 job at once',
    );
    const [other = 0] = await submit(alice, [sleeper]);
    await awaitStatus(alice, other, ['Running']);
    await limit('site', 'LOCAL.one', null);
    await awaitStatus(alice, second, ['Running']);
    await kill(alice);
  });

  it('of running ones let others pass, say which one it is, and go when they are removed', async () => {
    await limit('group', 'grid_user', { running: 3, ownerRunning: 2 });
    const jids = await submit(alice, Array(3).fill(sleeper));
    const last = await eventually(async () => {
      const states = await grid.sql<{ jid: number; status: string }>(
        'select jid, status from jobs where jid = any ($1::bigint[]) order by jid',
        [jids],
      );
      const running = states.filter(({ status }) => status === 'Running');
      return running.length === 2 ? states.find(({ status }) => status === 'Waiting') : undefined;
    }, 'two jobs to run');
    const [theirs = 0] = await submit(bob, [sleeper]);
    await awaitStatus(bob, theirs, ['Running']);
    const explain = async (): Promise<Explained> =>
      (await alice.get<Explained>(`/jobs/${last.jid}/explain`)).body;
    expect(await explain()).toMatchObject({
      status: 'Waiting',
      waitsFor: expect.stringMatching(
        /^The end of other jobs\. The limit of (group grid_user is reached: 3|alice in group grid_user is reached: 2) jobs at once$/,
      ),
    });
    await limit('group', 'grid_user', null);
    await awaitStatus(alice, Number(last.jid), ['Running']);
    await kill(alice);
    await kill(bob);
  });

  it('of waiting ones hold for jobs that are sent back to wait, one by one and as arrays', async () => {
    await limit('group', 'grid_user', { waiting: 4 });
    await kill(alice);
    await kill(bob);
    const bad = { Executable: '/bin/false', Sites: 'LOCAL.one', Parameters: 3 };
    const { body } = await eventually(async () => {
      const answer = await post(alice, { ...bad, array: true });
      return answer.status === 200 && answer;
    }, 'the limit to be known');
    const [one = 0, ...others] = body['jids'] as number[];
    await awaitFinal(alice, [one, ...others]);
    await submit(alice, [stuck, stuck]);
    const retry = `/jobs/arrays/${String(body['arrayId'])}/retry`;
    const tries = () =>
      grid.sql(`select jid, status, reschedules from jobs where jid = any ($1) order by jid`, [
        [one, ...others],
      ]);
    const waiting = async (): Promise<number[]> => {
      const rows = await grid.sql<{ jid: string }>(
        `select jid from jobs where status = 'Waiting' and owner = 'alice' order by jid`,
      );
      return rows.map(({ jid }) => Number(jid));
    };
    // As many go back as there is room for, and none but those.
    expect((await alice.post(retry)).body).toMatchObject({ retried: 2, refused: 0, left: 1 });
    await awaitFinal(alice, [one, ...others]);
    const [more = 0] = await submit(alice, [stuck]);
    await submit(alice, [stuck]);
    const before = await tries();
    const answer = await alice.post(retry);
    expect(answer.body).toEqual(refused('group grid_user', { limit: 4, waiting: 4, submitted: 3 }));
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '60']);
    const again = await alice.post(`/jobs/${one}/reschedule`);
    expect(again.body).toEqual(refused('group grid_user', { limit: 4, waiting: 4, submitted: 1 }));
    expect(await tries()).toEqual(before);
    // What can never be sent back is told so, not to come again later.
    await alice.delete(`/jobs/${more}`);
    await submit(alice, [stuck]);
    expect((await alice.post(`/jobs/${more}/reschedule`)).status).toBe(409);
    const [waits = 0] = await waiting();
    // What waits already is no more for that.
    expect((await alice.post(`/jobs/${waits}/reschedule`)).status).toBe(200);
    await kill(alice);
    // Repeated at once, they go back once each, and nobody hears of a limit.
    const repeated = await Promise.all(Array.from({ length: 6 }, () => alice.post(retry)));
    expect(repeated.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(repeated.reduce((sum, { body: { retried } }) => sum + retried, 0)).toBeGreaterThan(2);
    await awaitFinal(alice, [one, ...others]);
    await kill(alice);
    await limit('group', 'grid_user', null);
  });
});
