import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SharesRepository } from '../../src/jobs/matching/shares.repository.js';
import type { Database } from '../../src/database/index.js';
import { isNightly } from '../support/counts.js';
import { awaitFinal, awaitStatus, submit } from '../support/jobs.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

/** Kinds of jobs of one owner: more than a look of the matcher takes. */
const KINDS = isNightly ? 5_000 : 2_100;
/** Tried at night. */
const MORE_KINDS: [string, object][] = [
  ['for which there is no place now', { Sites: 'LOCAL.one' }],
];

describe('used processor time', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  let repository: SharesRepository;
  beforeAll(async () => {
    scratch = await scratchDatabase();
    database = await scratch.open();
    repository = new SharesRepository(database);
  });
  afterAll(() => scratch?.remove());

  const HALF_LIFE = 100;
  const count = (second: number) =>
    database.transaction((transaction) =>
      repository.count(transaction, {
        ...{ now: new Date(second * 1000), halfLife: HALF_LIFE, everySeconds: 5 },
      }),
    );
  const job = (owner: string, processors: number, status: string) =>
    scratch.dataSource.query(
      `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name, job_group, job_type, site,
          priority, cpu_time, submission_time, last_update, processors, executor)
        values ('Prod', $1, '', 'g', '', $3, '', '', '', '', 'A', 1, 1, now(), now(), $2, 'x')`,
      [owner, processors, status],
    );
  const used = async (): Promise<Record<string, [number, number, number]>> => {
    const rows: { owner: string; used: number; held: number; running: number }[] =
      await scratch.dataSource.query('select * from job_shares order by owner');
    return Object.fromEntries(
      rows.map((row) => [row.owner, [Math.round(row.used * 100) / 100, row.held, row.running]]),
    );
  };

  it('is charged by what is at work between two looks, and counts half after a half-life', async () => {
    await job('a', 4, 'Running');
    await job('a', 1, 'Matched');
    await job('b', 2, 'Completing');
    await count(1000);
    // Half of the time since a look that nobody has made is taken to be theirs.
    expect(await used()).toEqual({ a: [10, 5, 4], b: [5, 2, 2] });
    await count(1001);
    expect(await used()).toEqual({ a: [10, 5, 4], b: [5, 2, 2] });
    await scratch.dataSource.query(`update jobs set executor = null where owner = 'a'`);
    await count(1100);
    // a: half of 10, and two processors in the mean for 100 s; b: half of 5, and two for 100 s.
    expect(await used()).toEqual({ a: [205, 0, 0], b: [202.5, 2, 2] });
    await scratch.dataSource.query('update jobs set executor = null');
    await count(1200);
    expect((await used())['b']).toEqual([201.25, 0, 0]);
    expect((await used())['a']).toEqual([205, 0, 0]);
  });

  it('is forgotten when it does not count any more', async () => {
    await count(1200 + 9 * HALF_LIFE);
    expect(Object.keys(await used())).toEqual([]);
  });

  it('grows by a few seconds at most where nobody has looked for long', async () => {
    await job('c', 1, 'Running');
    await count(10_000);
    await scratch.dataSource.query(
      `insert into job_shares (owner_group, owner, used, held, running, as_of) values ('g', 'd', 100, 0, 0, 'epoch')`,
    );
    await job('d', 2, 'Running');
    await count(10_100);
    expect(await used()).toEqual({ c: [101.25, 1, 1], d: [5, 2, 2] });
  });
});

describe('places are shared', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  beforeAll(async () => {
    grid = await startGrid();
    [alice, bob] = [await grid.as('alice'), await grid.as('bob')];
    await grid.sql(
      `insert into registry_site (name, position, backend, options, slots)
        values ('LOCAL.one', 3, 'local-process', '{}', 1)`,
    );
  });
  afterAll(() => grid?.remove());

  const quick = { Executable: '/bin/true', Sites: 'LOCAL.one' };
  const block = async (): Promise<number> => {
    const sleeper = { Executable: '/bin/sleep', Arguments: '600', Sites: 'LOCAL.one' };
    const [blocker = 0] = await submit(alice, [sleeper]);
    await awaitStatus(alice, blocker, ['Running']);
    return blocker;
  };
  /** Whose jobs were started, in this order. */
  const started = async (jids: readonly number[]): Promise<string[]> => {
    const rows = await grid.sql<{ owner: string }>(
      `select owner from jobs join (select jid, min(time) as at from job_history
          where status = 'Matched' group by jid) m using (jid)
        where jid = any ($1::bigint[]) order by m.at, jid`,
      [jids],
    );
    return rows.map(({ owner }) => owner);
  };

  it('so that an owner who has had less does not wait for one who has had more', async () => {
    await grid.sql(
      `insert into job_shares (owner_group, owner, used, held, running, as_of)
        values ('grid_user', 'alice', 50000, 0, 0, now())`,
    );
    const blocker = await block();
    const hers = await submit(
      alice,
      Array.from({ length: 3 }, () => ({ ...quick, Priority: 9 })),
    );
    const his = await submit(bob, [quick, { ...quick, NumberOfProcessors: 1, WallTime: 60 }]);
    for (const jid of [...hers, ...his]) await awaitStatus(alice, jid, ['Waiting', 'Matched']);
    const last = hers[2] ?? 0;
    const told = await eventually(async () => {
      const { body } = await alice.get(`/jobs/${last}/explain`);
      // What was stored beside the service is known to it a second later.
      return body.share?.ownersBefore === 1 && body.share.used === 1 && body;
    }, 'the standing');
    expect(told).toEqual({
      jid: last,
      status: 'Waiting',
      place: 3,
      waitsFor:
        'A free place at LOCAL.one; 2 jobs of its owner and 1 other owner are in front of it',
      share: {
        group: 'grid_user',
        ...{ weight: 1, used: 1, due: 1, ownersBefore: 1 },
        ownerUsed: expect.any(Number),
      },
      sites: {
        'LOCAL.one':
          'Waits for a free slot; 2 jobs of its owner and 1 other owner are in front of it',
        'LOCAL.demo': 'It is not among the Sites of the job',
        'LOCAL.spare': 'It is not among the Sites of the job',
      },
    });
    const first = await bob.get(`/jobs/${his[0]}/explain`);
    expect(first.body).toMatchObject({ place: 1, share: { ownersBefore: 0 } });
    await alice.delete(`/jobs/${blocker}`);
    await awaitFinal(alice, hers);
    await awaitFinal(bob, his);
    expect(await started([...hers, ...his])).toEqual([
      ...['bob', 'bob', 'alice', 'alice', 'alice'],
    ]);
  });

  it('also when the other one asks for thousands of different things', async () => {
    await grid.sql(`update job_shares set used = case owner when 'alice' then 90000 else 0 end`);
    const blocker = await block();
    const hers = await submit(
      alice,
      Array.from({ length: KINDS }, (_, n) => ({ ...quick, WallTime: 1_000 + n })),
    );
    const his = await submit(
      bob,
      Array.from({ length: 3 }, (_, n) => ({ ...quick, WallTime: 9_000 + n })),
    );
    const last = hers.at(-1) ?? 0;
    await awaitStatus(alice, last, ['Waiting']);
    const told = await eventually(async () => {
      const { body } = await alice.get(`/jobs/${last}/explain`);
      return body.share?.used === 1 && body;
    }, 'the standing');
    expect(told).toMatchObject({ place: KINDS, share: { ownersBefore: 1 } });
    const { body: shares } = await bob.get('/jobs/shares');
    expect(shares.groups[0].owners).toMatchObject([
      { owner: 'alice', waiting: true },
      { owner: 'bob', waiting: true },
    ]);
    await alice.delete(`/jobs/${blocker}`);
    await awaitFinal(bob, his);
    const { length: before } = (await started(hers)).filter((owner) => owner === 'alice');
    expect(before).toBeLessThan(hers.length);
    expect((await started([...hers, ...his])).slice(0, 3)).toEqual(['bob', 'bob', 'bob']);
    await grid.sql(`update jobs set held_by = 'owner' where jid = any ($1::bigint[])`, [hers]);
  });

  it.each<[string, object]>([
    ['that no site can hold', { Tags: 'nowhere' }],
    ...(isNightly ? MORE_KINDS : []),
  ])(
    'and thousands of kinds of jobs %s do not keep places from their own owner',
    async (_what, wish) => {
      const blocker = await block();
      const stuck = await submit(
        alice,
        Array.from({ length: KINDS }, (_, n) => ({
          ...{ Executable: '/bin/true', WallTime: 1_000 + n },
          ...wish,
        })),
      );
      const free = { Executable: '/bin/true', Sites: 'LOCAL.demo' };
      const jobs = await submit(
        alice,
        Array.from({ length: 20 }, (_, n) => ({ ...free, WallTime: 700 + n })),
      );
      await awaitFinal(alice, jobs);
      await grid.sql(`update jobs set held_by = 'owner' where jid = any ($1::bigint[])`, [stuck]);
      await alice.delete(`/jobs/${blocker}`);
    },
  );

  it('and GET /jobs/shares says what was used and is due, to each what they may see', async () => {
    await grid.sql(`delete from job_shares`);
    await grid.sql(
      `insert into job_shares (owner_group, owner, used, held, running, as_of)
        values ('grid_user', 'alice', 300000, 2, 2, now()), ('grid_user', 'bob', 100000, 0, 0, now()),
          ('grid_share', 'bob', 400000, 0, 0, now())
        on conflict (owner_group, owner) do update set used = excluded.used, held = excluded.held,
          running = excluded.running, as_of = excluded.as_of`, // the service counts meanwhile
    );
    // The jobs of the tests before are still counted for a few seconds.
    const near = (seconds: number): unknown => expect.closeTo(seconds, -3);
    const about = (part: number): unknown => expect.closeTo(part, 2);
    const rest = { held: 0, waiting: false };
    const halves = { weight: 1, used: about(0.5), due: 0.5, seconds: near(400_000), ...rest };
    const shareGroup = {
      ...{ group: 'grid_share', ...halves },
      owners: [{ owner: 'bob', used: 1, due: 1, seconds: near(400_000), ...rest }],
    };
    const all = await eventually(async () => {
      const { status, body } = await alice.get('/jobs/shares');
      expect(status).toBe(200);
      // What was stored beside the service is known a second later; what is held is that of this moment.
      return body.groups.length === 2 && body.groups[1].held === 0 && body;
    }, 'the shares');
    expect(all).toEqual({
      shared: true,
      halfLife: 86_400,
      groups: [
        shareGroup,
        {
          ...{ group: 'grid_user', ...halves },
          owners: [
            { owner: 'alice', used: about(0.75), due: 0.5, seconds: near(300_000), ...rest },
            { owner: 'bob', used: about(0.25), due: 0.5, seconds: near(100_000), ...rest },
          ],
        },
      ],
    });
    const one = await alice.get('/jobs/shares?group=grid_share');
    expect(one.body.groups).toEqual([shareGroup]);
    expect((await alice.get('/jobs/shares?group=nobody')).body.groups).toEqual([]);
    expect((await alice.get('/jobs/shares?colour=red')).status).toBe(400);

    const closed = await startGrid({ env: { GRID_ROLE: 'api', GRID_GLOBAL_JOBS: 'false' } });
    try {
      await closed.sql(
        `insert into job_shares (owner_group, owner, used, held, running, as_of)
          values ('grid_user', 'alice', 300000, 0, 0, now()), ('grid_user', 'bob', 100000, 0, 0, now()),
            ('grid_share', 'bob', 400000, 0, 0, now())`,
      );
      const seen = async (client: GridClient): Promise<unknown> => {
        const { body } = await client.get('/jobs/shares');
        const ownersOf = ({ owners }: { owners: { owner: string }[] }): string[] =>
          owners.map(({ owner }) => owner);
        return body.groups.map((group: any) => [group.group, ownersOf(group)]);
      };
      await eventually(
        async () => (await closed.sql('select from job_shares')).length === 3,
        'the rows',
      );
      expect(await seen(await closed.as('alice'))).toEqual([['grid_user', ['alice']]]);
      expect(await seen(await closed.as('mona', 'grid_mon'))).toEqual([
        ['grid_share', ['bob']],
        ['grid_user', ['alice', 'bob']],
      ]);
    } finally {
      await closed.remove();
    }
  });

  it('between groups by the weights of the registry', async () => {
    await grid.sql(`delete from job_shares`);
    await grid.sql(
      `insert into registry_share (group_name, position, weight) values ('grid_share', 1, 1000000)`,
    );
    await grid.sql(
      `insert into job_shares (owner_group, owner, used, held, running, as_of)
        values ('grid_user', 'alice', 1000, 0, 0, now()), ('grid_share', 'bob', 90000, 0, 0, now())`,
    );
    const sharing = await grid.as('bob', 'grid_share');
    const blocker = await block();
    const hers = await submit(alice, [quick, quick]);
    const his = await submit(sharing, [quick, quick]);
    for (const jid of [...hers, ...his]) await awaitStatus(alice, jid, ['Waiting', 'Matched']);
    await eventually(async () => {
      const { body } = await sharing.get(`/jobs/${his[1]}/explain`);
      return body.share?.weight === 1_000_000;
    }, 'the weight');
    await alice.delete(`/jobs/${blocker}`);
    await awaitFinal(alice, hers);
    await awaitFinal(sharing, his);
    expect(await started([...hers, ...his])).toEqual(['bob', 'bob', 'alice', 'alice']);
  });

  it('unless GRID_SHARES is off: then by priority and age alone', async () => {
    await grid.stop();
    const plain = await grid.again({ GRID_SHARES: 'false' });
    [alice, bob] = [await plain.as('alice'), await plain.as('bob')];
    await plain.sql(`update job_shares set used = 50000 where owner = 'alice'`);
    const blocker = await block();
    const hers = await submit(alice, [{ ...quick, Priority: 9 }, quick]);
    const his = await submit(bob, [quick]);
    for (const jid of [...hers, ...his]) await awaitStatus(alice, jid, ['Waiting', 'Matched']);
    const { body } = await bob.get(`/jobs/${his[0]}/explain`);
    expect([body.place, body.share]).toEqual([3, undefined]);
    const shares = await bob.get('/jobs/shares');
    expect(shares.body).toEqual({ shared: false, halfLife: 86_400, groups: [] });
    await alice.delete(`/jobs/${blocker}`);
    await awaitFinal(alice, hers);
    await awaitFinal(bob, his);
    expect(await started([...hers, ...his])).toEqual(['alice', 'alice', 'bob']);
    await plain.stop();
  });
});
