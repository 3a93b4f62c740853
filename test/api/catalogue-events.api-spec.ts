import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { MoveService } from '../../src/file-catalogue/moves/move.service.js';
import {
  bulk,
  EVENTS,
  poll,
  pollUntil,
  position,
  short,
  since,
  type Short,
} from '../support/catalogue/events.js';
import { routes } from '../support/catalogue/http-catalogue.js';
import { scratchCatalogue, type ScratchCatalogue } from '../support/scratch-catalogue.js';
import { silentLog } from '../support/silent-log.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';
import { Watcher } from '../support/watcher.js';

const NDJSON = 'application/x-ndjson';

describe('GET /filecatalogue/events', () => {
  let grid: Grid;
  let alice: GridClient;
  let fred: GridClient;
  const watchers: Watcher[] = [];

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_FEED_STREAMS: '5' } });
    [alice, fred] = [await grid.as('alice'), await grid.as('fred')];
  });
  afterAll(async () => grid?.remove());
  afterEach(async () => {
    await Promise.all(watchers.splice(0).map((watcher) => watcher.close()));
  });

  const until = async (isSo: () => boolean): Promise<unknown> =>
    eventually(() => Promise.resolve(isSo()), 'events');

  async function watch(query = '', client = alice, at = grid): Promise<Watcher> {
    const watcher = new Watcher(at, client.token ?? '', `${EVENTS}${query}`);
    watchers.push(watcher);
    await until(() => watcher.opened > 0 || watcher.isClosed);
    return watcher;
  }

  const shown = (watcher: Watcher): Short[] =>
    watcher.of('directory', 'file', 'metadata').map(short);

  it('tells what every route of the catalogue changes, once', async () => {
    const from = await position(alice);
    const [a, f] = [routes.directory('/vo/w/a'), routes.file('/vo/w/a/f')];
    const ok = async (asked: Promise<{ status: number }>): Promise<void> => {
      expect((await asked).status).toBeLessThan(300);
    };
    await ok(fred.post('/filecatalogue/metadata', { json: { name: 'wrun', type: 'int' } }));
    await ok(alice.post(a));
    await ok(alice.post(a));
    await ok(alice.post(a, { json: { Mode: 0o755 } }));
    await ok(alice.put(f, { json: { Size: 10 } }));
    await ok(alice.put(f, { json: { Size: 10 } }));
    await ok(alice.put(f, { json: { Size: 10, Replicas: { 'SE-A': { PFN: 'x' } } } }));
    await ok(alice.patch(`${f}/metadata`, { json: { note: 'x' } }));
    await ok(alice.patch(`${f}/metadata`, { json: { note: 'x' } }));
    await ok(alice.put(`${f}/metadata`, { json: { note: 'y', more: 1 } }));
    await ok(alice.put(`${f}/metadata`, { json: {} }));
    await ok(alice.patch(`${a}/metadata`, { json: { wrun: 3 } }));
    await ok(alice.put(`${a}/metadata`, { json: { wrun: 4 } }));
    await ok(alice.patch(`${a}/metadata`, { json: { wrun: null } }));
    await ok(alice.delete(f));
    await ok(alice.delete(a));
    await bulk(fred, { kind: 'field', op: 'delete', name: 'wrun' });
    expect(await since(alice, from)).toEqual([
      ['metadata', '/', 'created'],
      ['directory', '/vo/w', 'created'],
      ['directory', '/vo/w/a', 'created'],
      ['directory', '/vo/w/a', 'changed'],
      ['file', '/vo/w/a/f', 'created'],
      ['file', '/vo/w/a/f', 'changed'],
      ['metadata', '/vo/w/a/f', 'created'],
      ['metadata', '/vo/w/a/f', 'changed'],
      ['metadata', '/vo/w/a/f', 'removed'],
      ['metadata', '/vo/w/a', 'created'],
      ['metadata', '/vo/w/a', 'changed'],
      ['metadata', '/vo/w/a', 'removed'],
      ['file', '/vo/w/a/f', 'removed'],
      ['directory', '/vo/w/a', 'removed'],
      ['metadata', '/', 'removed'],
    ]);
  });

  it('tells of a bulk what it leaves, in an order that a mirror can follow', async () => {
    await bulk(fred, { kind: 'field', name: 'brun', type: 'int' });
    await bulk(
      alice,
      { kind: 'file', path: '/vo/b/swap', size: 1 },
      { kind: 'directory', path: '/vo/b/gone/deep' },
      { kind: 'directory', path: '/vo/b/kept' },
      { kind: 'file', path: '/vo/b/kept/same', size: 1, metadata: { note: 'x' } },
    );
    const from = await position(alice);
    await bulk(
      alice,
      { kind: 'file', path: '/vo/b/never', size: 1 },
      { kind: 'file', path: '/vo/b/never', op: 'delete' },
      { kind: 'file', path: '/vo/b/kept/same', size: 1 },
      { kind: 'file', path: '/vo/b/kept/new', size: 1, metadata: { note: 'y' } },
      { kind: 'directory', path: '/vo/b/made', metadata: { brun: 1 } },
      { kind: 'file', path: '/vo/b/kept/same', size: 1, metadata: { note: 'z' } },
      { kind: 'directory', path: '/vo/b/gone/deep', op: 'delete' },
      { kind: 'directory', path: '/vo/b/gone', op: 'delete' },
      { kind: 'file', path: '/vo/b/swap', op: 'delete' },
      { kind: 'directory', path: '/vo/b/swap' },
    );
    expect(await since(alice, from)).toEqual([
      ['file', '/vo/b/swap', 'removed'],
      ['directory', '/vo/b/gone/deep', 'removed'],
      ['directory', '/vo/b/gone', 'removed'],
      ['directory', '/vo/b/made', 'created'],
      ['directory', '/vo/b/swap', 'created'],
      ['metadata', '/vo/b/kept/same', 'changed'],
      ['file', '/vo/b/kept/new', 'created'],
    ]);
  });

  it('tells of a large bulk each line, in pages', async () => {
    const from = await position(alice);
    const paths = Array.from({ length: 1_700 }, (_, n) => `/vo/large/d${n % 7}/f${n}`);
    await bulk(alice, ...paths.map((path) => ({ kind: 'file', path, size: 1 })));
    const got: string[] = [];
    let last = from;
    await eventually(async () => {
      const { events, position: to } = await poll(alice, last);
      last = to;
      got.push(
        ...events.filter(({ event }: any) => event === 'file').map(({ data }: any) => data.path),
      );
      return got.length >= paths.length;
    }, 'all files');
    expect(got).toEqual(paths);
  });

  it('sends the same as a stream, as lines, and to who waits', async () => {
    const from = await position(alice);
    const waiting = alice.get(`${EVENTS}?wait=20&after=${from}&prefix=/vo/forms`);
    const here = await watch(`?prefix=/vo/forms&after=${from}`);
    await bulk(alice, { kind: 'file', path: '/vo/forms/f', size: 1 });
    const { body } = (await waiting) as any;
    const expected = [
      ['directory', '/vo/forms', 'created'],
      ['file', '/vo/forms/f', 'created'],
    ];
    expect(body.events.map(short)).toEqual(expected);
    expect(body.events[1]).toEqual({
      id: expect.stringMatching(/^\d+$/),
      event: 'file',
      data: { path: '/vo/forms/f', change: 'created' },
    });
    await until(() => shown(here).length === 2);
    expect(here.got).toEqual(body.events);
    const { Agent, fetch } = await import('undici');
    const dispatcher = new Agent({ connect: { ca: grid.ca } });
    const answer = await fetch(`${grid.url}${EVENTS}?after=${from}&prefix=/vo/forms/`, {
      headers: { Authorization: `Bearer ${alice.token}`, Accept: NDJSON },
      dispatcher,
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, NDJSON]);
    let text = '';
    for await (const piece of answer.body ?? []) {
      text += Buffer.from(piece).toString('utf8');
      if (text.split('\n').filter((line) => line !== '').length >= 2) break;
    }
    await dispatcher.destroy();
    const lines = text.split('\n').filter((line) => line !== '');
    expect(lines.map((line) => JSON.parse(line))).toEqual(body.events);
  });

  it('goes on at another instance, from any event', async () => {
    const other = await grid.second();
    try {
      const from = await position(alice);
      const here = await watch(`?prefix=/vo/two&after=${from}`);
      const elsewhere = await other.as('alice');
      await bulk(elsewhere, { kind: 'directory', path: '/vo/two/a' });
      await until(() => shown(here).length === 2);
      const there = await watch(`?prefix=/vo/two&after=${here.got[0]?.id}`, elsewhere, other);
      await bulk(alice, { kind: 'directory', path: '/vo/two/b' });
      await until(() => shown(there).length === 2);
      expect(shown(there)).toEqual([
        ['directory', '/vo/two/a', 'created'],
        ['directory', '/vo/two/b', 'created'],
      ]);
      await until(() => shown(here).length === 3);
      expect(here.got.slice(1)).toEqual(there.got);
    } finally {
      await other.remove();
    }
  });

  it.each([
    ['a listing', routes.directory('/vo')],
    ['a page of one', `${routes.directory('/vo')}?limit=1`],
    ['a search', `${routes.directory('/vo')}/search`],
    ['a search without an answer', `${routes.directory('/vo')}/search?prun=%3D%7C999`],
    ['values', `${routes.directory('/vo')}/metadata`],
    ['fields', '/filecatalogue/metadata'],
  ])('goes on from %s without a gap and without repeating', async (_what, path) => {
    await fred.post('/filecatalogue/metadata', { json: { name: 'prun', type: 'int' } });
    const name = `/vo/p${Math.random()}`;
    await bulk(alice, { kind: 'file', path: `${name}a`, size: 1 });
    const { status, headers } = await alice.get(path);
    expect([status, headers['grid-feed-position']]).toEqual([
      200,
      expect.stringMatching(/^\d+(-\d+)*$/),
    ]);
    await bulk(alice, { kind: 'file', path: `${name}b`, size: 1 });
    expect(await since(alice, String(headers['grid-feed-position']))).toEqual([
      ['file', `${name}b`, 'created'],
    ]);
  });

  it('leaves nothing out of who commits late', async () => {
    const from = await position(alice);
    const late = new pg.Client({ connectionString: grid.database.url });
    await late.connect();
    await late.query(
      `begin; insert into event_log (source, xact, written_at, n, events)
         values ('filecatalogue', pg_current_xact_id()::text::bigint, now(), 1, '[["f","c",["/vo",""],"late"]]')`,
    );
    await bulk(alice, { kind: 'file', path: '/vo/early', size: 1 });
    const { events, position: after } = await pollUntil(alice, from, '/vo/early');
    expect(events.map(short)).toEqual([['file', '/vo/early', 'created']]);
    await late.query('commit');
    await late.end();
    expect((await pollUntil(alice, after, '/vo/late')).events.map(short)).toEqual([
      ['file', '/vo/late', 'created'],
    ]);
  });

  it('tells those who watch a part what concerns it', async () => {
    await bulk(
      alice,
      { kind: 'directory', path: '/vo/part/in' },
      { kind: 'directory', path: '/vo/partly' },
    );
    const from = await position(alice);
    await bulk(
      alice,
      { kind: 'file', path: '/vo/part/in/f', size: 1 },
      { kind: 'file', path: '/vo/part/f', size: 1 },
      { kind: 'file', path: '/vo/partly/f', size: 1 },
      { kind: 'directory', path: '/vo/part', mode: 0o755 },
    );
    expect(await since(alice, from, { query: '&prefix=/vo/part' })).toEqual([
      ['directory', '/vo/part', 'changed'],
      ['file', '/vo/part/in/f', 'created'],
      ['file', '/vo/part/f', 'created'],
    ]);
    expect(await since(alice, from, { query: '&prefix=/vo/part/in' })).toEqual([
      ['directory', '/vo/part', 'changed'],
      ['file', '/vo/part/in/f', 'created'],
    ]);
    expect(await since(alice, from, { query: '&prefix=/vo/part/in/f' })).toEqual([
      ['directory', '/vo/part', 'changed'],
      ['file', '/vo/part/in/f', 'created'],
    ]);
    expect(await since(alice, from, { query: '&prefix=/vo/absent' })).toEqual([]);
  });

  it('goes no further back than events are kept', async () => {
    const ahead = Number((await position(alice)).split('-')[0]) + 1_000;
    for (const query of [`?after=${ahead}`, `?wait=1&after=${ahead}`]) {
      const { status, body } = await alice.get(`${EVENTS}${query}`);
      expect([status, body.code]).toEqual([410, 'feed.gone']);
    }
    await grid.sql(`update event_positions set gone = 2 where source = 'filecatalogue'`);
    expect((await alice.get(`${EVENTS}?wait=0&after=1`)).status).toBe(410);
    expect((await alice.get(`${EVENTS}?wait=0&after=2`)).status).toBe(200);
  });

  it.each([
    ['?after=x', 'after', 'is not a position of a feed'],
    ['?wait=31', 'wait', 'must be a whole number between 0 and 30'],
    ['?prefix=vo', 'prefix', 'must begin with /'],
    ['?prefix=', 'prefix', 'must begin with /'],
    ['?prefix=/vo//a', 'prefix', 'has an empty name (// or / at the end)'],
    ['?prefix=/vo/..', 'prefix', 'has a .. segment'],
    ['?prefix=/a%00', 'prefix', 'contains a NUL character'],
  ])('refuses %s', async (query, field, problem) => {
    const { status, body } = await alice.get(`${EVENTS}${query}`);
    expect([status, body.code]).toEqual([400, 'request.invalid']);
    expect(body.violations).toEqual([{ field, problem }]);
  });

  it('refuses unknown keys, who shows no token, and who may not read the catalogue', async () => {
    expect((await alice.get(`${EVENTS}?path=/vo`)).body.code).toBe('request.unknown-parameter');
    expect((await grid.anonymous.get(EVENTS)).status).toBe(401);
    const other = grid.bearer(await grid.token('alice', 'grid_user', 'Prod', 'jobs:read'));
    expect((await other.get(EVENTS)).body.code).toBe('auth.insufficient-scope');
  });

  it('ends for a token that is revoked', async () => {
    const token = await grid.token('alice', 'grid_user');
    const mine = grid.bearer(token);
    const watcher = await watch('', mine);
    expect((await mine.post('/oauth2/revoke', { form: { token } })).status).toBe(200);
    await until(() => watcher.isClosed);
    expect(watcher.of('end').map(({ event }) => event)).toEqual(['end']);
    expect(watcher.refusals).toEqual([401]);
  });

  it('is open so many times at once', async () => {
    for (let n = 0; n < 5; n += 1) await watch();
    const { status, body } = await alice.get(EVENTS);
    expect([status, body.code]).toEqual([429, 'rate.limited']);
    expect((await alice.get(routes.directory('/vo'))).status).toBe(200);
  });
});

describe('the log of the catalogue', () => {
  let grid: ScratchCatalogue;

  beforeAll(async () => {
    grid = await scratchCatalogue({ GRID_CATALOGUE_GLOBAL_READ: 'true' });
  });
  afterAll(() => grid?.remove());

  it('is written in the transaction of the change, and in rows that are short', async () => {
    const actor = await grid.policy.systemActor();
    const depth = Array.from({ length: 90 }, (_, n) => `name${n}`.padEnd(40, 'x')).join('/');
    const lines = Array.from({ length: 30 }, (_, n) => ({
      ...({ kind: 'file', op: 'put', path: `/r${n}/${depth}/f`, size: 1 } as const),
    }));
    const outcomes = await grid.writer.apply(actor, lines);
    expect(new Set(outcomes)).toEqual(new Set(['created']));
    const [row] = await grid.database.query<{
      xacts: number;
      n: number;
      most: number;
      text: number;
    }>({
      text: `select count(distinct xact)::integer as xacts, sum(n)::integer as n, max(n) as most,
        max(octet_length(events::text)) as text from event_log`,
    });
    expect([row?.xacts, row?.n]).toEqual([1, 30 * 92]);
    expect(row?.most).toBeLessThanOrEqual(1_000);
    expect(row?.text).toBeLessThan(1_000_000);
    await grid.database.execute({ text: 'truncate event_log' });
    const moves = new MoveService(grid.database, silentLog());
    expect(await moves.move('/r7', '/r7b')).toBe(91);
    const [moved] = await grid.database.query({ text: 'select n, events from event_log' });
    expect(moved).toMatchObject({ n: 1 });
  });
});
