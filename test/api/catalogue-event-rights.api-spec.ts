import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { MoveService } from '../../src/file-catalogue/moves/move.service.js';
import { bulk, EVENTS, position, short, since, type Short } from '../support/catalogue/events.js';
import { onDatabaseOf } from '../support/database-of.js';
import { silentLog } from '../support/silent-log.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';
import { Watcher } from '../support/watcher.js';

const [OPEN, CLOSED] = [0o775, 0o700];

describe('GET /filecatalogue/events with GRID_CATALOGUE_GLOBAL_READ=false', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  const watchers: Watcher[] = [];

  beforeAll(async () => {
    const env = { GRID_ROLE: 'api', GRID_CATALOGUE_GLOBAL_READ: 'false' };
    grid = await startGrid({ env });
    [alice, bob] = [await grid.as('alice'), await grid.as('bob', 'grid_share')];
  });
  afterAll(async () => grid?.remove());
  afterEach(async () => {
    await Promise.all(watchers.splice(0).map((watcher) => watcher.close()));
  });

  const until = async (isSo: () => boolean): Promise<unknown> =>
    eventually(() => Promise.resolve(isSo()), 'events');

  async function watch(client: GridClient, after: string): Promise<Watcher> {
    const watcher = new Watcher(grid, client.token ?? '', `${EVENTS}?after=${after}`);
    watchers.push(watcher);
    await until(() => watcher.opened > 0 || watcher.isClosed);
    return watcher;
  }

  const shown = (watcher: Watcher): Short[] =>
    watcher.of('directory', 'file', 'metadata').map(short);

  it('tells nobody of what is hidden, neither then nor now', async () => {
    await bulk(alice, { kind: 'directory', path: '/vo/h', mode: OPEN });
    const from = await position(alice);
    const watcher = await watch(bob, from);
    await bulk(alice, { kind: 'directory', path: '/vo/h/closed', mode: CLOSED });
    await bulk(alice, { kind: 'file', path: '/vo/h/closed/f', size: 1, metadata: { a: 1 } });
    await bulk(alice, { kind: 'directory', path: '/vo/h/closed/open', mode: OPEN });
    await bulk(alice, { kind: 'file', path: '/vo/h/seen', size: 1 });
    expect(await since(alice, from, { reader: bob })).toEqual([['file', '/vo/h/seen', 'created']]);
    // What was hidden when it happened stays so when nothing is there any more.
    await bulk(
      alice,
      { kind: 'directory', path: '/vo/h/closed/open', op: 'delete' },
      { kind: 'file', path: '/vo/h/closed/f', op: 'delete' },
      { kind: 'directory', path: '/vo/h/closed', op: 'delete' },
    );
    expect(await since(alice, from, { reader: bob })).toEqual([['file', '/vo/h/seen', 'created']]);
    await until(() => shown(watcher).some(([, path]) => path === '/vo/h/seen'));
    expect(JSON.stringify(watcher.got)).not.toContain('closed');
    expect((await since(alice, from)).length).toBe(7);
  });

  it('says that a directory is gone for whom it is closed to, and that it is there when it is opened', async () => {
    await bulk(alice, { kind: 'directory', path: '/vo/door', mode: OPEN });
    const from = await position(alice);
    const watcher = await watch(bob, from);
    await bulk(alice, { kind: 'file', path: '/vo/door/f', size: 1 });
    await until(() => shown(watcher).length >= 1);
    await bulk(alice, { kind: 'directory', path: '/vo/door', mode: CLOSED });
    await until(() => shown(watcher).length >= 2);
    await bulk(alice, { kind: 'file', path: '/vo/door/g', size: 1 });
    const below = await since(alice, from, { query: '&prefix=/vo/door/f', reader: bob });
    // Of the file nothing is told any more to who may not see it now.
    expect(below).toEqual([['directory', '/vo/door', 'removed']]);
    await bulk(alice, { kind: 'directory', path: '/vo/door', mode: OPEN });
    await until(() => shown(watcher).some(([, , change]) => change === 'changed'));
    expect(shown(watcher).filter(([, path]) => path.startsWith('/vo/door'))).toEqual([
      ['file', '/vo/door/f', 'created'],
      ['directory', '/vo/door', 'removed'],
      ['directory', '/vo/door', 'changed'],
    ]);
  });

  it('tells of a moved subtree in one event, to each as far as he sees', async () => {
    await bulk(
      alice,
      { kind: 'directory', path: '/vo/m/pub', mode: OPEN },
      { kind: 'directory', path: '/vo/m/priv', mode: CLOSED },
      ...Array.from({ length: 300 }, (_, n) => ({
        kind: 'file',
        path: `/vo/m/pub/x/d${n % 50}/f${n}`,
        size: 1,
      })),
    );
    const moves = [
      ['/vo/m/pub/x', '/vo/m/pub/y'],
      ['/vo/m/pub/y', '/vo/m/priv/y'],
      ['/vo/m/priv/y', '/vo/m/priv/z'],
      ['/vo/m/priv/z', '/vo/m/pub/z'],
    ] as const;
    const from = await position(alice);
    await onDatabaseOf(grid, async (database) => {
      const mover = new MoveService(database, silentLog());
      for (const [old, now] of moves) await mover.move(old, now);
    });
    expect(await since(alice, from)).toEqual(
      moves.map(([old, now]) => ['directory', now, 'moved', old]),
    );
    const bobs = [
      ['directory', '/vo/m/pub/y', 'moved', '/vo/m/pub/x'],
      ['directory', '/vo/m/pub/y', 'removed'],
      ['directory', '/vo/m/pub/z', 'moved'],
    ];
    expect(await since(alice, from, { reader: bob })).toEqual(bobs);
    expect(await since(alice, from, { query: '&prefix=/vo/m/pub/y/d1', reader: bob })).toEqual(
      bobs.slice(0, 2),
    );
    expect(await since(alice, from, { query: '&prefix=/vo/m/pub/z', reader: bob })).toEqual(
      bobs.slice(2),
    );
    expect(await since(alice, from, { query: '&prefix=/vo/m/priv', reader: bob })).toEqual([]);
  });

  it('holds to the paths of the token', async () => {
    const scope = 'storage.read:/vo/s';
    const narrow = grid.bearer(await grid.token('alice', 'grid_user', 'Prod', scope));
    await bulk(alice, { kind: 'directory', path: '/vo/s' }, { kind: 'directory', path: '/vo/st' });
    const from = await position(alice);
    await bulk(
      alice,
      { kind: 'file', path: '/vo/s/f', size: 1 },
      { kind: 'file', path: '/vo/st/f', size: 1 },
      { kind: 'directory', path: '/vo/s', mode: 0o755 },
    );
    expect(await since(alice, from, { query: '&prefix=/vo/s', reader: narrow })).toEqual([
      ['directory', '/vo/s', 'changed'],
      ['file', '/vo/s/f', 'created'],
    ]);
    for (const prefix of ['/', '/vo', '/vo/st']) {
      const { status, body } = await narrow.get(`${EVENTS}?wait=0&prefix=${prefix}`);
      expect([status, body.code]).toEqual([403, 'auth.insufficient-scope']);
    }
  });
});
