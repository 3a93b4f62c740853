import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Problem } from '#src/kernel/index.js';
import { FEW_LIMITS } from '../../src/file-catalogue/matching/few-matches.repository.js';
import type { CatalogueLine } from '../../src/file-catalogue/writing/catalogue-line.js';
import {
  caller,
  scratchCatalogue,
  written,
  type ScratchCatalogue,
} from '../support/scratch-catalogue.js';

/** So many files go by the short way. */
const MANY = 60;

let open: ScratchCatalogue;
let guarded: ScratchCatalogue;
const alice = caller('alice', 'grid_user');

beforeAll(async () => {
  open = await scratchCatalogue({ GRID_CATALOGUE_GLOBAL_READ: 'true' });
  guarded = await scratchCatalogue({ GRID_CATALOGUE_GLOBAL_READ: 'false' });
});

afterAll(async () => {
  await open?.remove();
  await guarded?.remove();
});

async function apply(
  grid: ScratchCatalogue,
  lines: object[],
  bySystem = false,
): Promise<unknown[]> {
  const actor = bySystem ? await grid.policy.systemActor() : await grid.policy.writerOf(alice);
  const read = (await grid.reader.read(lines as never)) as CatalogueLine[];
  const outcomes = await grid.writer.apply(actor, read);
  return outcomes.map((outcome) => (outcome instanceof Problem ? outcome.status : outcome));
}

const files = (directory: string, count: number, differing: object = {}): object[] =>
  Array.from({ length: count }, (_each, n) => ({
    ...{ kind: 'file', path: `${directory}/f${n}`, size: n, ...differing },
  }));

const times = (count: number, outcome: unknown): unknown[] => Array(count).fill(outcome);

async function search(grid: ScratchCatalogue, key: string, operand: string): Promise<unknown[]> {
  const conditions = [{ key, operator: '=', operand }];
  const text = await written((writer) =>
    grid.search.writeLines(alice, { path: '/', conditions }, writer),
  );
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as unknown);
}

async function listed(grid: ScratchCatalogue, path: string): Promise<Record<string, object>> {
  const request = {
    ...{ path, verbose: false, limit: undefined, onPosition: () => undefined },
    ...{ after: { kind: 'directories', name: '' } as const, onNext: () => undefined },
  };
  const text = await written((writer) => grid.namespace.writeListing(alice, request, writer));
  return JSON.parse(text) as Record<string, object>;
}

describe('many new files at once', () => {
  beforeEach(async () => {
    for (const grid of [open, guarded]) {
      await grid.clear();
      const tops = ['/a', '/b', '/c'].map((path) => ({ kind: 'directory', path, mode: 0o777 }));
      await apply(grid, [{ kind: 'directory', path: '/', mode: 0o777 }, ...tops], true);
      await grid.database.execute({ text: 'truncate event_log' });
    }
  });

  it('are registered with totals and one event each', async () => {
    const lines = [...files('/a', MANY), ...files('/b', MANY, { size: 2 ** 53 - 1 })];
    expect(await apply(open, lines)).toEqual(times(2 * MANY, 'created'));
    const [totals] = await open.database.query({
      text: 'select sum(files)::int as files, sum(bytes) as bytes from catalogue_delta',
    });
    const bytes = BigInt((MANY * (MANY - 1)) / 2) + BigInt(MANY) * BigInt(2 ** 53 - 1);
    expect(totals).toEqual({ files: 2 * MANY, bytes: String(bytes) });
    const [events] = await open.database.query({
      text: 'select sum(n)::int as n, sum(json_array_length(events))::int as told from event_log',
    });
    expect(events).toEqual({ n: 2 * MANY, told: 2 * MANY });
  });

  it('keep every character and digit, and are their own', async () => {
    const odd = ['tab\\there', 'back\\slash', '\\.', '\\', '\\N', 'é🗎"'];
    const lines = odd.map((name) => ({
      ...{ kind: 'file', path: `/a/${name}`, size: 2n ** 62n, checksum: 'ad:8b', guid: 'g-1' },
      replicas: [{ se: 'SE-A', pfn: 'a\\b\t"c"' }],
    }));
    expect(await apply(open, [...lines, ...files('/a', MANY)])).toEqual(
      times(odd.length + MANY, 'created'),
    );
    const rows = await open.database.query({
      text: `select f.name, f.size, f.checksum, f.checksum_type, f.guid, f.mode, n.name as owner,
               (select r.value from jsonb_each_text(f.replicas) r) as pfn
             from catalogue_file f join catalogue_name n on n.id = f.owner_id
             where f.guid is not null order by f.id`,
    });
    const same = { size: 2n ** 62n, checksum: 'ad:8b', checksum_type: 'Adler32', guid: 'g-1' };
    const expected = odd.map((name) => ({
      ...{ name, ...same, mode: 0o775, owner: 'alice', pfn: 'a\\b\t"c"' },
    }));
    const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
    expect((rows as typeof expected).sort(byName)).toEqual(expected.sort(byName));
  });

  it('are changed, unchanged or refused line by line where they are not all new', async () => {
    await apply(open, files('/a', 1));
    expect(await apply(open, files('/a', MANY))).toEqual([
      'unchanged',
      ...times(MANY - 1, 'created'),
    ]);
    expect(await apply(open, files('/a', MANY))).toEqual(times(MANY, 'unchanged'));
    await apply(open, files('/c', 2).slice(1)); // none of those that are looked up first
    expect(await apply(open, files('/c', MANY))).toEqual([
      ...['created', 'unchanged'],
      ...times(MANY - 2, 'created'),
    ]);
    const twice = [...files('/b', MANY), ...files('/b', 2, { size: 7 })];
    expect(await apply(open, twice)).toEqual([...times(MANY, 'created'), 409, 409]);
    await apply(open, [{ kind: 'directory', path: '/d/f7' }]);
    const around = times(MANY, 'created');
    around[7] = 409;
    expect(await apply(open, files('/d', MANY))).toEqual(around);
  });

  it('make the directories that are missing', async () => {
    const lines = files('/a/new', MANY).concat(files('/b/x/y', MANY));
    expect(await apply(open, lines)).toEqual(times(2 * MANY, 'created'));
    const { SubDirs } = await listed(open, '/b');
    expect(Object.keys(SubDirs ?? {})).toEqual(['x']);
    const { Files } = await listed(open, '/b/x/y');
    expect(Object.keys(Files ?? {})).toHaveLength(MANY);
  });

  it('need w on their directory, and a way that may be seen', async () => {
    await apply(guarded, [{ kind: 'directory', path: '/b', mode: 0o755 }], true);
    const lines = [...files('/a', MANY), ...files('/b', MANY)];
    expect(await apply(guarded, lines)).toEqual([...times(MANY, 'created'), ...times(MANY, 403)]);
    const below = { kind: 'directory', path: '/c/below', mode: 0o777 };
    await apply(guarded, [below, { kind: 'directory', path: '/c', mode: 0o711 }], true);
    expect(await apply(guarded, files('/c/below', MANY))).toEqual(times(MANY, 409));
  });
});

describe('a search for one value', () => {
  const run = (path: string, value: unknown): object => ({
    ...{ kind: 'directory', path, metadata: { run: value } },
  });

  beforeEach(async () => {
    await open.clear();
    const field = { kind: 'field', name: 'run', type: 'int' };
    await apply(open, [field, { kind: 'directory', path: '/', mode: 0o777 }], true);
    await search(open, 'run', '0'); // the field is known from now on
  });

  it('finds few directories with what is pending, and as many as there are', async () => {
    const count = FEW_LIMITS.segments + 2;
    const paths = Array.from({ length: count }, (_each, n) => `/d${String(n).padStart(3, '0')}`);
    await apply(open, [run('/few', 1), run('/few2', 1), ...paths.map((path) => run(path, 2))]);
    await apply(open, files('/few/below', 3));
    expect(await search(open, 'run', '1')).toEqual([
      { path: '/few', files: 3, size: 3 },
      { path: '/few/below', files: 3, size: 3 },
      { path: '/few2', files: 0, size: 0 },
    ]);
    const found = paths.map((path) => ({ path, files: 0, size: 0 }));
    expect(await search(open, 'run', '2')).toEqual(found);
    expect(await search(open, 'run', '3')).toEqual([]);
  });

  it('finds all below a directory with the value, also when they are many', async () => {
    const below = Array.from({ length: FEW_LIMITS.matches + 5 }, (_each, n) => `/all/d${n}`);
    const directories = below.map((path) => ({ kind: 'directory', path }));
    await apply(open, [run('/all', 1), ...directories]);
    expect(await search(open, 'run', '1')).toHaveLength(below.length + 1);
  });

  it('knows that the field has become another one', async () => {
    await apply(open, [run('/few', 1)]);
    expect(await search(open, 'run', '1')).toHaveLength(1);
    await apply(open, [{ kind: 'field', op: 'delete', name: 'run' }], true);
    await expect(search(open, 'run', '1')).rejects.toMatchObject({ status: 400 });
    await apply(open, [{ kind: 'field', name: 'run', type: 'float' }], true);
    await apply(open, [run('/few', 1.5)]);
    expect(await search(open, 'run', '1.5')).toEqual([{ path: '/few', files: 0, size: 0 }]);
  });
});

describe('a complete listing', () => {
  it('goes on where what was read together ends', async () => {
    await open.clear();
    await apply(open, [{ kind: 'directory', path: '/', mode: 0o777 }], true);
    const names = Array.from({ length: 450 }, (_each, n) => `d${String(n).padStart(4, '0')}`);
    await apply(open, [
      ...names.map((name) => ({ kind: 'directory', path: `/many/${name}` })),
      ...names.map((name) => ({ kind: 'file', path: `/many/f${name}`, size: 1 })),
    ]);
    const { SubDirs, Files } = await listed(open, '/many');
    expect(Object.keys(SubDirs ?? {})).toEqual(names);
    expect(Object.keys(Files ?? {})).toEqual(names.map((name) => `f${name}`));
  });
});
