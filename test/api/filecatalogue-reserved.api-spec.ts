import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Problem } from '#src/kernel/index.js';
import type { Actor } from '../../src/file-catalogue/access/catalogue.policy.js';
import { MoveService } from '../../src/file-catalogue/moves/move.service.js';
import type { EntryLine, FileReserve } from '../../src/file-catalogue/writing/catalogue-line.js';
import { caller, scratchCatalogue, type ScratchCatalogue } from '../support/scratch-catalogue.js';
import { silentLog } from '../support/silent-log.js';

const HOUR = 3_600_000;
const F = '/vo/a/f';

let grid: ScratchCatalogue;
let alice: Actor;
let bob: Actor;
let se: number;

beforeAll(async () => {
  grid = await scratchCatalogue({ GRID_CATALOGUE_GLOBAL_READ: 'false' });
  alice = await grid.policy.writerOf(caller('alice', 'grid_user', ['NormalUser'], 'vo'));
  bob = await grid.policy.writerOf(caller('bob', 'grid_user', ['NormalUser'], 'vo'));
  await grid.names.ensure('se', ['SE-A', 'SE-B']);
  se = grid.names.known('se', 'SE-A');
});
afterAll(() => grid?.remove());
beforeEach(async () => {
  await grid.clear();
  const system = await grid.policy.systemActor();
  const [made] = await grid.writer.apply(system, [directory('/vo/a', 0o777)]);
  expect(made).toBe('created');
});

const directory = (path: string, mode = 0o775): EntryLine => ({
  ...{ kind: 'directory', op: 'put', path, mode, mustExist: false },
});
const file = (path: string): EntryLine => ({ kind: 'file', op: 'put', path, size: 1 });
const reserve = (path: string, more: Partial<FileReserve> = {}): FileReserve => {
  const endsAt = new Date(Date.now() + HOUR);
  return { kind: 'file', op: 'reserve', path, seId: se, endsAt, ...more };
};
const together = async (actor: Actor, ...lines: EntryLine[]): Promise<string> =>
  grid.writer.applyTogether(actor, lines).then(
    () => 'done',
    (error: unknown) => saying(error),
  );
const one = async (actor: Actor, line: EntryLine): Promise<string> =>
  saying((await grid.writer.apply(actor, [line]))[0]);
const saying = (outcome: unknown): string =>
  outcome instanceof Problem ? `${outcome.code}: ${outcome.detail}` : String(outcome);
const held = async () =>
  grid.database.query<{ id: number; path: string; state: string; owner_id: number }>({
    text: 'select id, path, state, owner_id from catalogue_bytes order by id',
  });
const files = async () =>
  grid.database.query<{ name: string; stored: number[] | null; sha256: string | null }>({
    text: 'select name, stored, sha256 from catalogue_file order by name',
  });
const remove = () =>
  grid.database.execute({ text: `update catalogue_bytes set state = 'removing'` });

const UPLOADED = `catalogue.exists: ${F} is being uploaded`;
const REMOVED = `catalogue.being-removed: The bytes of ${F} are being removed`;

describe('a path that is held for bytes', () => {
  it.each([
    ['arrive', UPLOADED, () => Promise.resolve(0)],
    ['are removed', REMOVED, remove],
  ])('is nobody else’s while they %s', async (_what, fault, then) => {
    expect(await together(alice, reserve(F, { size: 10 }))).toBe('done');
    await then();
    for (const actor of [alice, bob]) {
      expect(await together(actor, reserve(F))).toBe(fault);
      expect(await one(actor, file(F))).toBe(fault);
      expect(await one(actor, directory(F))).toBe(fault);
      expect(await one(actor, file(`${F}/below/it`))).toBe(fault);
    }
    expect(await one(bob, { kind: 'file', op: 'delete', path: F })).toBe('absent');
    const many = Array.from({ length: 100 }, (_, index) => file(`/vo/a/${index}`));
    const outcomes = await grid.writer.apply(bob, [...many, file(F)]);
    expect([outcomes.slice(0, -1), saying(outcomes.at(-1))]).toEqual([
      ...[many.map(() => 'created'), fault],
    ]);
    expect((await held()).map(({ path, owner_id }) => [path, owner_id])).toEqual([
      [F, alice.userId],
    ]);
  });

  it('keeps its directory, which is made for it', async () => {
    const deep = '/vo/a/new/deep/f';
    expect(await together(alice, reserve(deep))).toBe('done');
    const gone = { kind: 'directory', op: 'delete', path: '/vo/a/new/deep' } as const;
    expect(await one(alice, gone)).toBe(
      'catalogue.not-empty: The directory /vo/a/new/deep is not empty',
    );
    const moves = new MoveService(grid.database, silentLog());
    const moved = `Files lie at storage elements by their paths, in /vo/a/new or where it would come`;
    await expect(moves.move('/vo/a/new', '/vo/b')).rejects.toThrow(moved);
    await remove();
    expect(await one(alice, gone)).toBe('deleted');
    await expect(moves.move('/vo/a/new', '/vo/b')).rejects.toThrow(moved);
    await grid.database.execute({ text: 'delete from catalogue_bytes' });
    expect(await moves.move('/vo/a/new', '/vo/b')).toBe(1);
  });

  it('is refused where a file would be, and then nothing of the request is done', async () => {
    const system = await grid.policy.systemActor();
    await grid.writer.apply(system, [directory('/vo/shut', 0o755), directory('/vo/dark', 0o700)]);
    await grid.writer.apply(system, [
      file('/vo/a/there'),
      file('/vo/dark/f'),
      directory('/vo/a/d'),
    ]);
    const refused: [string, string][] = [
      ['/vo/a/there', 'catalogue.exists: /vo/a/there is a file'],
      ['/vo/a/d', 'catalogue.exists: /vo/a/d is a directory'],
      ['/vo/a/there/f', 'catalogue.exists: /vo/a/there is a file'],
      ['/vo/shut/f', 'catalogue.forbidden: You may not write in the directory /vo/shut'],
      ['/vo/dark/f', 'catalogue.forbidden: You may not write in the directory /vo'],
      ['/vo/dark/new', 'catalogue.forbidden: You may not write in the directory /vo'],
      ['/vo/a/\n', expect.stringContaining('has a name with control characters') as never],
    ];
    for (const [path, fault] of refused) {
      expect(await together(alice, reserve('/vo/a/ok'), reserve(path))).toEqual(fault);
    }
    const scoped = { ...alice, paths: { create: [] } };
    expect(await together(scoped, reserve('/vo/a/ok'))).toContain('auth.insufficient-scope');
    expect(await together(alice, reserve(F), reserve(F))).toBe(UPLOADED);
    const full = () => Promise.reject(new Problem('rate.limited', 'too many'));
    await expect(grid.writer.applyTogether(alice, [reserve(F)], full)).rejects.toThrow('too many');
    expect(await held()).toEqual([]);
  });

  it('becomes the file’s with the bytes, once', async () => {
    await together(alice, reserve(F), reserve('/vo/a/g'));
    const [first, second] = await held();
    const put = (path: string, id = 0) =>
      together(alice, { kind: 'file', op: 'put', path, size: 1, arrived: { id, sha256: 'ab' } });
    expect(await put(F, first?.id)).toBe('done');
    expect(await files()).toEqual([{ name: 'f', stored: [se], sha256: 'ab' }]);
    expect((await held()).map(({ path }) => path)).toEqual(['/vo/a/g']);
    await remove();
    expect(await put('/vo/a/g', second?.id)).toBe(
      'storage.differs: The time to upload /vo/a/g is over',
    );
    expect(await files()).toHaveLength(1);
    // At another element the file may get a replica meanwhile, not where its bytes are being removed.
    await grid.database.execute({ text: `update catalogue_bytes set path = '${F}'` });
    const at = (id: number): EntryLine => ({
      ...{ kind: 'file', op: 'put', path: F, replicas: new Map([[id, null]]) },
    });
    expect(await one(alice, at(se))).toBe(REMOVED);
    expect(await one(alice, at(grid.names.known('se', 'SE-B')))).toBe('updated');
  });

  it('is given again to its owner for the same bytes, until the owner gives it up', async () => {
    expect(await together(alice, reserve(F, { size: 10 }))).toBe('done');
    expect(await together(alice, reserve(F, { size: 10 }))).toBe('done');
    expect(await together(alice, reserve(F, { size: 11 }))).toBe(UPLOADED);
    expect(await one(alice, { kind: 'file', op: 'delete', path: F })).toBe('removing');
    expect(await together(alice, reserve(F, { size: 10 }))).toBe(REMOVED);
  });
});

describe('a path that many want at once', () => {
  const rounds = Array.from({ length: 10 }, (_, index) => `/vo/a/${index}`);

  it.each<[string, (path: string) => Promise<string>[]]>([
    [
      'for bytes',
      (path) => Array.from({ length: 8 }, (_, size) => together(alice, reserve(path, { size }))),
    ],
    [
      'for bytes and as a file',
      (path) => [
        ...Array.from({ length: 4 }, (_, size) => together(alice, reserve(path, { size }))),
        ...[bob, alice].map((actor) => one(actor, file(path))),
      ],
    ],
    [
      'for bytes and as a directory',
      (path) => [
        ...Array.from({ length: 4 }, (_, size) => together(bob, reserve(path, { size }))),
        one(alice, directory(path)),
      ],
    ],
    [
      'for bytes and in a bulk',
      (path) => {
        const many = Array.from({ length: 5_000 }, (_, index) => file(`${path}-${index}`));
        const bulk = grid.writer.apply(bob, [
          ...many.slice(0, 2_500),
          file(path),
          ...many.slice(2_500),
        ]);
        return [
          bulk.then((outcomes) => saying(outcomes[2_500])),
          ...Array.from({ length: 4 }, (_, size) => together(alice, reserve(path, { size }))),
        ];
      },
    ],
  ])('is given once: %s', async (_what, at) => {
    for (const path of rounds) {
      const outcomes = await Promise.all(at(path));
      const won = outcomes.filter((outcome) => ['done', 'created'].includes(outcome));
      const had = outcomes.filter((outcome) => outcome === 'unchanged');
      const refused = outcomes.filter((outcome) => outcome.startsWith('catalogue.exists'));
      expect(outcomes).toHaveLength(1 + had.length + refused.length);
      expect(won).toHaveLength(1);
      const [row] = await grid.database.query<{ number: number }>({
        text: `select (select count(*) from catalogue_bytes where path = $1)
                 + (select count(*) from catalogue_file f join catalogue_directory d on d.id = f.directory_id
                    where d.path = '/vo/a' and f.name = $2)
                 + (select count(*) from catalogue_directory where path = $1) as number`,
        values: [path, path.slice('/vo/a/'.length)],
      });
      expect(Number(row?.number)).toBe(1);
    }
  });

  it('has its directory, or is refused', async () => {
    for (const path of rounds) {
      await one(alice, directory(path));
      const [gone, done] = await Promise.all([
        one(alice, { kind: 'directory', op: 'delete', path }),
        together(alice, reserve(`${path}/f`)),
      ]);
      expect(done).toBe('done');
      expect(gone).toMatch(/^(deleted|catalogue\.not-empty: .*)$/);
      const [row] = await grid.database.query<{ number: number }>({
        text: 'select count(*) as number from catalogue_directory where path = $1',
        values: [path],
      });
      expect(Number(row?.number)).toBe(1);
    }
  });
});
