import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DispatchRepository } from '../../src/jobs/matching/dispatch.repository.js';
import { LaneTurns } from '../../src/jobs/matching/lane-turns.js';
import { LanesRepository } from '../../src/jobs/matching/lanes.repository.js';
import type { QueuedJob } from '../../src/jobs/matching/queued-job.js';
import { QueueRepository } from '../../src/jobs/matching/queue.repository.js';
import { systemClock } from '../../src/kernel/index.js';
import type { Database } from '../../src/database/index.js';
import type { EventLog } from '../../src/events/index.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

describe('lanes of the queue', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  let lanes: LanesRepository;
  beforeAll(async () => {
    scratch = await scratchDatabase();
    database = await scratch.open();
    lanes = new LanesRepository(database);
    // alice: 40 lanes of two jobs; bob: 3 lanes; carol in two groups: one lane each; dave holds his job back.
    await add('g1', 'alice', 40, 2);
    await add('g1', 'bob', 3, 1);
    await add('g1', 'carol', 1, 1);
    await add('g2', 'carol', 1, 5);
    await add('g2', 'dave', 1, 1);
    await scratch.dataSource.query(`update jobs set held_by = 'owner' where owner = 'dave'`);
  });
  afterAll(() => scratch?.remove());

  const add = (group: string, owner: string, kinds: number, each: number) =>
    scratch.dataSource.query(
      `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name, job_group, job_type, site,
          priority, cpu_time, submission_time, last_update, wall_time)
        select 'Prod', $2, '', $1, '', 'Waiting', '', '', '', '', 'ANY', e, 1, now(), now(), 100 + k
        from generate_series(1, $3) k, generate_series(1, $4) e`,
      [group, owner, kinds, each],
    );
  const whoOf = (heads: readonly QueuedJob[]): Record<string, number> => {
    const who: Record<string, number> = {};
    for (const { ownerGroup, owner } of heads) {
      const name = `${ownerGroup} ${owner}`;
      who[name] = (who[name] ?? 0) + 1;
    }
    return who;
  };
  const WHOLE = { 'g1 alice': 40, 'g1 bob': 3, 'g1 carol': 1, 'g2 carol': 1 };

  it('are told by the first job of each, and who waits by name', async () => {
    const heads = await lanes.heads({ limit: 100 });
    expect(whoOf(heads)).toEqual(WHOLE);
    // The first job has the highest priority.
    expect(new Set(heads.map(({ owner, priority }) => `${owner} ${priority}`))).toEqual(
      new Set(['alice 2', 'bob 1', 'carol 1', 'carol 5']),
    );
    expect(await lanes.owners(10)).toEqual([
      { ownerGroup: 'g1', owner: 'alice' },
      { ownerGroup: 'g1', owner: 'bob' },
      { ownerGroup: 'g1', owner: 'carol' },
      { ownerGroup: 'g2', owner: 'carol' },
    ]);
    expect(await lanes.owners(1)).toEqual([{ ownerGroup: 'g1', owner: 'alice' }]);
  });

  it('of an owner who has very many do not hide those of others, and all have their turn', async () => {
    const turns = new LaneTurns(lanes, 10);
    const seen = new Set<string>();
    for (let look = 0; look < 8; look += 1) {
      const heads = await turns.next();
      expect(heads).toHaveLength(10);
      const { 'g1 alice': hers, ...others } = whoOf(heads);
      expect([hers, others]).toEqual([5, { 'g1 bob': 3, 'g1 carol': 1, 'g2 carol': 1 }]);
      for (const { owner, shape } of heads) if (owner === 'alice') seen.add(String(shape));
      expect(seen.size).toBe(5 * (look + 1));
    }
    // Once round, then from the front on.
    await turns.next();
    expect(seen.size).toBe(40);
  });

  it('are looked at in turns of owners when they alone are too many, each at its next lane', async () => {
    const turns = new LaneTurns(lanes, 2);
    const seen: string[][] = [];
    for (let look = 0; look < 4; look += 1) {
      seen.push((await turns.next()).map(({ ownerGroup, owner }) => `${ownerGroup} ${owner}`));
    }
    const first = ['g1 alice', 'g1 bob'];
    const second = ['g1 carol', 'g2 carol'];
    expect(seen).toEqual([first, second, first, second]);
    const shapes = new Set<string>();
    for (let look = 0; look < 120; look += 1) {
      for (const { owner, shape } of await turns.next()) {
        if (owner === 'alice') shapes.add(String(shape));
      }
    }
    expect(shapes.size).toBe(40);
  });

  it('are seen again each time when something came of them', async () => {
    const turns = new LaneTurns(lanes, 10);
    const first = await turns.next();
    const lucky = first.filter(({ owner }) => owner === 'alice').slice(0, 2);
    turns.keep(lucky);
    for (let look = 0; look < 5; look += 1) {
      const shapes = new Set((await turns.next()).map(({ shape }) => String(shape)));
      for (const { shape } of lucky) expect(shapes).toContain(String(shape));
      expect(turns.hasMore).toBe(true);
    }
    // A look at everything has nothing to remember.
    const whole = new LaneTurns(lanes, 100);
    expect(await whole.next()).toHaveLength(45);
    whole.keep(lucky);
    expect([whole.hasMore, (await whole.next()).length]).toEqual([false, 45]);
  });

  it('leave the queue alone after some looks in a row', async () => {
    const turns = new LaneTurns(lanes, 4);
    const more: boolean[] = [];
    for (let look = 0; look < 17; look += 1) {
      await turns.next();
      more.push(turns.hasMore);
    }
    expect(more).toEqual([...Array<boolean>(15).fill(true), false, true]);
  });

  it('are counted for the place of a job, also when they are thousands', async () => {
    const dispatch = new DispatchRepository(database, undefined as never, systemClock);
    const ahead = async (owner: string, of: boolean | string[], last = true): Promise<number> => {
      const [row] = await scratch.dataSource.query(
        `select jid, priority, owner, owner_group as "ownerGroup" from jobs
          where owner = $1 and owner_group = 'g1' and held_by is null
          order by priority ${last ? '' : 'desc'}, jid ${last ? 'desc' : ''} limit 1`,
        [owner],
      );
      const counted = of === false ? undefined : 'owner';
      return dispatch.jobsAhead(row, Array.isArray(of) ? new Set(of) : counted);
    };
    // 40 of priority 2 and 39 of priority 1 before the last one; and of all those of carol's four of higher priority, too.
    expect(await ahead('alice', true)).toBe(79);
    expect(await ahead('alice', true, false)).toBe(0);
    expect(await ahead('alice', false)).toBe(79 + 4);
    // The groups that are told, and its own.
    expect([await ahead('alice', []), await ahead('alice', ['g2'])]).toEqual([79, 79 + 4]);
    await add('g1', 'erin', 3_000, 1);
    expect([await ahead('erin', true), await ahead('erin', true, false)]).toEqual([2_999, 0]);
    expect(await ahead('erin', false)).toBeGreaterThan(2_999);
    expect((await ahead('erin', false)) - (await ahead('erin', []))).toBe(5);
    await add('g1', 'frank', 10_500, 1);
    expect([await ahead('frank', true), await ahead('frank', true, false)]).toEqual([10_000, 0]);
    await scratch.dataSource.query(`delete from jobs where owner in ('erin', 'frank')`);
  });

  it('keep to themselves why their jobs wait', async () => {
    const events = { wrote: () => undefined } as unknown as EventLog;
    const queue = new QueueRepository(
      ...([database, undefined, undefined, events, undefined, systemClock] as never as [
        ...ConstructorParameters<typeof QueueRepository>,
      ]),
    );
    const head = (await lanes.heads({ limit: 100 })).find(({ owner }) => owner === 'bob');
    const alike = `select owner, app_status from jobs where shape = $1 order by owner, jid`;
    const [wish] = await scratch.dataSource.query(
      `select shape from jobs where owner = 'bob' order by jid limit 1`,
    );
    const bobs = { ...(head as QueuedJob), shape: wish.shape };
    const count = await database.transaction((transaction) =>
      queue.noteUnplaceable(transaction, [{ ...bobs, why: 'no site has it' }]),
    );
    expect(count).toBe(1);
    const rows = await scratch.dataSource.query(
      `select owner, minor_status = 'No candidate sites available' as is_noted from jobs where wall_time = 101
        order by owner, jid`,
    );
    expect(rows).toEqual([
      { owner: 'alice', is_noted: false },
      { owner: 'alice', is_noted: false },
      { owner: 'bob', is_noted: true },
      ...Array.from({ length: 6 }, () => ({ owner: 'carol', is_noted: false })),
      { owner: 'dave', is_noted: false },
    ]);
    // What was noted is a lane of its own, which is not in the queue.
    expect(await scratch.dataSource.query(alike, [wish.shape])).toHaveLength(9);
    expect(whoOf(await lanes.heads({ limit: 100 }))).toEqual({ ...WHOLE, 'g1 bob': 2 });
    const apart = await lanes.heads({ limit: 100, unplaceable: true });
    expect(whoOf(apart)).toEqual({ 'g1 bob': 1 });
    const back = () =>
      database.transaction((transaction) => queue.notePlaceable(transaction, apart));
    expect([await back(), await back()]).toEqual([1, 0]);
    expect(whoOf(await lanes.heads({ limit: 100 }))).toEqual(WHOLE);
    expect(await lanes.heads({ limit: 100, unplaceable: true })).toEqual([]);
    const told = await scratch.dataSource.query(
      `select minor_status, app_status, source from job_history where jid = $1 order by id`,
      [apart[0]?.jid],
    );
    expect(told).toEqual([
      {
        minor_status: 'No candidate sites available',
        app_status: 'no site has it',
        source: 'Dispatcher',
      },
      { minor_status: 'Pilot Agent Submission', app_status: 'Unknown', source: 'Dispatcher' },
    ]);
  });
});
