import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { lockInTransaction, type Database, type Queryable } from '#src/database/index.js';
import { logEvents } from '#src/events/index.js';
import { loggedMove, logMovesTogether } from '../../src/jobs/state/logged-move.sql.js';
import { EventLogRepository } from '../../src/events/event-log.repository.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

describe('the event log', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  let log: EventLogRepository;

  beforeAll(async () => {
    scratch = await scratchDatabase();
    database = await scratch.open();
    log = new EventLogRepository(database);
  });
  afterAll(() => scratch?.remove());
  beforeEach(async () => {
    await database.execute({ text: 'truncate event_log' });
    await database.execute({
      text: 'update event_positions set position = 0, floor = 0, gone = 0',
    });
  });

  /** Writes one row with these events. */
  async function write(queryable: Queryable, ...names: string[]): Promise<void> {
    const rows =
      'select json_build_array(name) as event, place, 1 as n from unnest($1::text[]) with ordinality x (name, place)';
    await queryable.execute({ text: logEvents('jobs', rows, 'place'), values: [names] });
  }

  async function number(): Promise<{ position: number; isAll: boolean } | undefined> {
    const row = await database.transaction(async (transaction) => {
      await lockInTransaction(transaction, 'jobsFeed');
      return log.number(transaction, 'jobs');
    });
    return row && { position: row.position, isAll: row.isAll };
  }

  async function names(after: number, limit = 100, seen?: string): Promise<[number, unknown][]> {
    const page = await log.read('jobs', after, limit, seen);
    return (page?.events ?? []).map(({ position, event }) => [position, event[0]]);
  }

  it('shows nothing that has no number, and numbers without gaps', async () => {
    await write(database, 'a', 'b');
    await write(database);
    await write(database, 'c');
    expect(await names(0)).toEqual([]);
    expect(await number()).toEqual({ position: 3, isAll: true });
    expect(await number()).toBeUndefined();
    const all = [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ];
    expect(await names(0)).toEqual(all);
    expect(await names(1)).toEqual(all.slice(1));
    expect(await names(0, 1)).toEqual(all.slice(0, 1));
    expect(await names(1, 1)).toEqual(all.slice(1, 2));
    expect(await names(3)).toEqual([]);
    const page = await log.read('jobs', 1, 9);
    expect(page).toEqual({
      upto: 3,
      position: 3,
      gone: 0,
      events: [
        { position: 2, event: ['b'], row: [['a'], ['b']], index: 1 },
        { position: 3, event: ['c'], row: [['c']], index: 0 },
      ],
    });
    expect(await log.read('filecatalogue', 0, 9)).toEqual({
      events: [],
      upto: 0,
      position: 0,
      gone: 0,
    });
  });

  it('writes jobs that move alike together, and reads the moves of each in order', async () => {
    const moves = `(values
      (2, 1, 'Received', null), (2, 2, 'Waiting', null), (1, 1, 'Received', null), (1, 2, 'Waiting', null),
      (3, 1, 'Waiting', '["Received","r","u","B",4]'), (5, 1, 'Killed', '["Running","r","u","B",5]'), (4, 1, 'Killed', null)
      ) v (jid, n, status, found)`;
    await database.execute({
      text: logMovesTogether(`(select jid, n, status, 'm' as minor, 'a' as app, 'S' as site,
        '1970-01-01T00:00:01.5Z'::timestamptz as last_update, found::json as before from ${moves}) v`),
    });
    const [written] = await database.query<{ n: number; rows: number; ids: unknown }>({
      text: `select n, json_array_length(events) as rows, events -> 0 -> 'first' as ids from event_log`,
    });
    expect(written).toEqual({ n: 7, rows: 4, ids: [1, 2] });
    await number();
    const part = (status: string): object => ({
      ...{ status, minorStatus: 'm', appStatus: 'a', site: 'S', lastUpdate: new Date(1_500) },
    });
    const found = (status: string, ms: number): object => ({
      ...{ status, minorStatus: 'r', appStatus: 'u', site: 'B', lastUpdate: new Date(ms) },
    });
    const { events = [] } = (await log.read('jobs', 0, 100)) ?? {};
    expect(events.map(loggedMove)).toEqual([
      { position: 1, jid: 1, after: part('Received'), before: undefined },
      { position: 2, jid: 2, after: part('Received'), before: undefined },
      { position: 3, jid: 3, after: part('Waiting'), before: found('Received', 4) },
      { position: 4, jid: 4, after: part('Killed'), before: undefined },
      { position: 5, jid: 5, after: part('Killed'), before: found('Running', 5) },
      { position: 6, jid: 1, after: part('Waiting'), before: part('Received') },
      { position: 7, jid: 2, after: part('Waiting'), before: part('Received') },
    ]);
    const behind = (await log.read('jobs', 6, 100))?.events ?? [];
    expect(behind.map(loggedMove)).toEqual([
      { position: 7, jid: 2, after: part('Waiting'), before: part('Received') },
    ]);
  });

  it('gives a transaction that commits late a number behind all that has been read', async () => {
    let seen: [number, unknown][] = [];
    await database.transaction(async (late) => {
      await write(late, 'late');
      await write(database, 'early');
      expect(await number()).toEqual({ position: 1, isAll: true });
      seen = await names(0);
      await write(database, 'between');
      expect(await number()).toEqual({ position: 2, isAll: true });
    });
    expect(seen).toEqual([[1, 'early']]);
    expect(await number()).toEqual({ position: 3, isAll: true });
    expect(await names(1)).toEqual([
      [2, 'between'],
      [3, 'late'],
    ]);
  });

  it('numbers nothing of a transaction that was undone', async () => {
    const undone = database.transaction(async (transaction) => {
      await write(transaction, 'never');
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    expect(await number()).toBeUndefined();
  });

  it('leaves out what a snapshot has seen, numbered or not', async () => {
    let snapshot = '';
    await database.transaction(async (open) => {
      await write(open, 'open');
      await write(database, 'committed');
      const [row] = await database.query<{ text: string }>({
        text: 'select pg_current_snapshot()::text as text',
      });
      snapshot = row?.text ?? '';
    });
    await write(database, 'later');
    expect(await number()).toEqual({ position: 3, isAll: true });
    expect((await names(0, 9, snapshot)).map(([, name]) => name)).toEqual(['open', 'later']);
    const page = await log.read('jobs', 0, 1, snapshot);
    expect([page?.upto, page?.position]).toEqual([1, 3]);
  });

  it('goes on after a restore into a cluster that counts its transactions anew', async () => {
    await write(database, 'before');
    await number();
    await database.execute({ text: 'update event_positions set floor = floor + 1000000000' });
    await write(database, 'after');
    expect(await number()).toEqual({ position: 2, isAll: true });
    expect(await names(1)).toEqual([[2, 'after']]);
    const states = await log.state();
    expect(states.map(({ source, isFresh }) => [source, isFresh]).sort()).toEqual([
      ['filecatalogue', false],
      ['jobs', false],
    ]);
    await write(database, 'and more');
    expect((await log.state()).find(({ source }) => source === 'jobs')?.isFresh).toBe(true);
  });

  it('removes what is old, oldest first, and says how far', async () => {
    for (const name of ['a', 'b', 'c']) await write(database, name, `${name}2`);
    await number();
    const before = new Date();
    await database.execute({
      text: `update event_log set written_at = written_at - interval '1 day' where last <= 4`,
    });
    const remove = (): Promise<boolean> =>
      database.transaction((transaction) =>
        log.remove(transaction, 'jobs', new Date(before.getTime() - 3_600_000)),
      );
    expect(await remove()).toBe(false);
    expect(await log.read('jobs', 4, 9)).toEqual({
      upto: 6,
      position: 6,
      gone: 4,
      events: [
        { position: 5, event: ['c'], row: [['c'], ['c2']], index: 0 },
        { position: 6, event: ['c2'], row: [['c'], ['c2']], index: 1 },
      ],
    });
    expect(await remove()).toBe(false);
    expect((await log.read('jobs', 4, 9))?.gone).toBe(4);
  });

  it('keeps every number once when several number at the same time', async () => {
    const writers = Array.from({ length: 20 }, (_, n) => write(database, `x${n}`, `y${n}`));
    const numberers = Array.from({ length: 4 }, () => number());
    await Promise.all([...writers, ...numberers]);
    await number();
    const all = await names(0);
    expect(all.map(([position]) => position)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    expect(new Set(all.map(([, name]) => name)).size).toBe(40);
  });
});
