import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LaneTurns } from '../../src/jobs/matching/lane-turns.js';
import { LanesRepository } from '../../src/jobs/matching/lanes.repository.js';
import type { QueuedJob } from '../../src/jobs/matching/queued-job.js';
import { QueueRepository } from '../../src/jobs/matching/queue.repository.js';
import { systemClock } from '../../src/kernel/index.js';
import type { Database, EventLog } from '../../src/platform/index.js';
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
  }, 60_000);
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
      queue.noteWaiting(transaction, bobs, 'no site has it'),
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
    // What was noted is a lane of its own.
    expect(await scratch.dataSource.query(alike, [wish.shape])).toHaveLength(9);
  });
});
