import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linesOf, routes } from '../support/catalogue/http-catalogue.js';
import { CommandUser } from '../support/command.js';
import { runs, seed } from '../support/counts.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const TOP = '/vo/names';
const NAMES = [
  '%',
  '%2e%2e%2f',
  '%00',
  '~~~',
  "it's",
  '"double"',
  'a b',
  ' blank before',
  'blank after ',
  'back\\slash',
  '..a',
  '...',
  'a..',
  '-_=+&?#;,|',
  '{"json": [1]}',
  "'; drop table catalogue_file; --",
  '$1',
  '__proto__',
  'constructor',
  '日本語',
  '😀👩‍👩‍👧',
  'caf\u00e9',
  'cafe\u0301',
  '\u202eright to left',
  '\ufeff',
  'n'.repeat(255),
  '界'.repeat(85),
];

let grid: Grid;
let alice: GridClient;
let home: string;

beforeAll(async () => {
  grid = await startGrid();
  alice = await grid.as('alice');
  home = await mkdtemp(join(tmpdir(), 'grid-names-'));
  const fred = await grid.as('fred');
  await fred.post('/filecatalogue/metadata', { json: { name: 'naming', type: 'string' } });
  await alice.post(routes.directory(TOP));
});

afterAll(async () => {
  await grid?.remove();
  await rm(home, { recursive: true, force: true });
});

/** A directory and a file in it, both of this name, through every route that shows names. */
async function goRound(name: string): Promise<void> {
  const directory = `${TOP}/${name}`;
  const file = `${directory}/${name}`;
  const made = await alice.post(routes.directory(directory));
  expect([made.status, made.body]).toEqual([201, { path: directory, created: true }]);
  const registered = await alice.put(routes.file(file), { json: { Size: 7 } });
  expect([registered.status, registered.body]).toEqual([201, { path: file, created: true }]);
  const set = await alice.put(`${routes.directory(directory)}/metadata`, {
    json: { naming: 'x' },
  });
  expect([set.status, set.body]).toEqual([200, { naming: 'x' }]);

  const above = (await alice.get(routes.directory(TOP))).body;
  expect(Object.hasOwn(above.SubDirs, name)).toBe(true);
  const { body: inside } = await alice.get(routes.directory(directory));
  expect(Object.keys(inside.Files)).toEqual([name]);
  const attributes = await alice.get(`${routes.file(file)}/attributes`);
  expect([attributes.status, attributes.body.Size]).toEqual([200, 7]);
  const inherited = await alice.get(`${routes.file(file)}/metadata?inherited=true`);
  expect(inherited.body).toEqual({ naming: 'x' });

  const search = `${routes.directory(TOP)}/search`;
  const { body: tree } = await alice.get(search, { query: 'naming=in|x' });
  expect(Object.entries(tree.d)).toContainEqual([name, { f: 1, s: 7 }]);
  const lines = linesOf(
    await alice.get(search, {
      query: 'naming=in|x',
      headers: { accept: 'application/x-ndjson' },
    }),
  );
  expect(lines).toContainEqual({ path: directory, files: 1, size: 7 });
}

async function remove(name: string): Promise<void> {
  const directory = `${TOP}/${name}`;
  expect((await alice.delete(routes.file(`${directory}/${name}`))).status).toBe(200);
  expect((await alice.delete(routes.directory(directory))).status).toBe(200);
}

const gridgate = (words: string[]) =>
  new CommandUser(home).run(['admin', 'catalogue', ...words], {
    DATABASE_URL: grid.database.url,
    GRID_HOME: grid.home,
  });

describe('names', () => {
  it.each(NAMES)('%j goes through every route', async (name) => {
    await goRound(name);
  });

  it('of any Unicode do, and what is composed differently is another name', async () => {
    const anyName = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 40 })
      .filter((name) => !/[/\p{Cc}]|^\.\.?$|\p{Surrogate}/u.test(name))
      .filter((name) => Buffer.byteLength(name) <= 255 && !NAMES.includes(name));
    await fc.assert(
      fc.asyncProperty(anyName, async (name) => {
        await goRound(name);
        await remove(name);
      }),
      { numRuns: runs(30), seed, endOnFailure: true },
    );
  });

  it('come back whole from export and import', async () => {
    const file = join(home, 'names.ndjson');
    expect((await gridgate(['export', TOP, '--output', file])).code).toBe(0);
    const first = await readFile(file, 'utf8');
    const entries = linesOf({ bytes: Buffer.from(first) } as never).filter(
      ({ kind }) => kind !== 'field',
    );
    expect(entries).toHaveLength(2 * NAMES.length + 1);
    for (const name of NAMES) await remove(name);
    const imported = await gridgate(['import', file, '--json']);
    expect(JSON.parse(imported.stdout)).toMatchObject({ created: 2 * NAMES.length, failed: 0 });
    expect((await gridgate(['export', TOP])).stdout).toBe(first);
  });

  it('that are mistyped do not become directories by setting metadata', async () => {
    expect(await gridgate(['meta', `${TOP}/mistyped`, 'naming=x'])).toMatchObject({
      code: 2,
      stderr: `gridgate: There is no directory ${TOP}/mistyped\n`,
    });
    expect((await alice.get(routes.directory(`${TOP}/mistyped`))).status).toBe(404);
  });

  it('are given metadata as it is written, by the type of its field', async () => {
    const directory = `${TOP}/values`;
    await alice.post(routes.directory(directory));
    for (const [name, type] of [
      ['pass', 'string'],
      ['tag', 'string'],
      ['count', 'int'],
      ['mass', 'float'],
    ])
      await gridgate(['field', name ?? '', type ?? '']);
    const set = (...words: string[]) => gridgate(['meta', directory, ...words]);
    const metadata = async () => (await alice.get(`${routes.directory(directory)}/metadata`)).body;
    const words = ['pass=07', 'tag=123e4', 'count=7', 'mass=4.10'];
    expect(await set(...words)).toEqual({ code: 0, stdout: 'updated\n', stderr: '' });
    expect(await metadata()).toEqual({ pass: ['07'], tag: ['123e4'], count: [7], mass: [4.1] });
    expect(await set('count=null', 'pass="null"', 'tag=[x')).toMatchObject({ code: 0 });
    expect(await metadata()).toEqual({ pass: ['null'], tag: ['[x'], mass: [4.1] });
    expect(await set('count=1.5')).toMatchObject({
      ...{ code: 2, stderr: 'gridgate: count: is not a decimal integer\n' },
    });
  });

  it('go 100 levels deep and no deeper', async () => {
    const deep = (levels: number): string => '/vo' + '/d'.repeat(levels - 1);
    expect((await alice.post(routes.directory(deep(100)))).status).toBe(201);
    expect((await alice.post(routes.directory(deep(101)))).status).toBe(400);
    expect((await alice.put(routes.file(`${deep(99)}/f`), { json: { Size: 5 } })).status).toBe(201);
    expect((await alice.put(routes.file(`${deep(100)}/f`), { json: { Size: 5 } })).status).toBe(
      400,
    );
    const { body } = await alice.get(`${routes.directory(deep(98))}/search`);
    expect(body).toEqual({ f: 1, s: 5, d: { d: { f: 1, s: 5, d: { d: { f: 0, s: 0 } } } } });
  });
});

describe('what is no path', () => {
  const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64url');
  it.each([
    ['no slash at the beginning', encode('vo')],
    ['an empty name', encode('/vo//a')],
    ['.', encode('/vo/./a')],
    ['..', encode('/vo/../etc')],
    ['NUL', encode('/vo/a\0b')],
    ['bytes that are no UTF-8', encode(Buffer.from([0x2f, 0xff, 0xfe]))],
    ['a surrogate alone', encode(Buffer.from([0x2f, 0xed, 0xa0, 0x80]))],
    ['a name of 256 bytes', encode(`/vo/${'n'.repeat(256)}`)],
    ['a name of 86 characters of 3 bytes', encode(`/vo/${'界'.repeat(86)}`)],
    ['4,097 bytes', encode(`/${'n'.repeat(200)}`.repeat(20) + `/${'n'.repeat(76)}`)],
    ['the other base 64', '%2Fvo%2B'],
    ['no base 64 at all', 'L3ZvL2E!'],
    ['padding in the middle', 'L3Zv=L2E'],
  ])('%s is 400 in every route', async (_what, code) => {
    const answers = await Promise.all([
      alice.get(`/filecatalogue/directory/${code}`),
      alice.get(`/filecatalogue/directory/${code}/metadata`),
      alice.get(`/filecatalogue/directory/${code}/search`),
      alice.get(`/filecatalogue/file/${code}/attributes`),
      alice.get(`/filecatalogue/file/${code}/metadata`),
      alice.post(`/filecatalogue/directory/${code}`),
      alice.put(`/filecatalogue/file/${code}`, { json: { Size: 1 } }),
      alice.patch(`/filecatalogue/directory/${code}/metadata`, { json: {} }),
      alice.delete(`/filecatalogue/directory/${code}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
  });
});

const SQL = [
  "' or 1=1 --",
  "x'; drop table catalogue_directory; --",
  "') union select path from catalogue_directory --",
  '$1',
  '\\',
  "e'); select pg_sleep(5); --",
  '%',
  '${1}',
];

describe('what looks like SQL', () => {
  it.each(SQL)('%s as an operand finds nothing in any route', async (operand) => {
    const query = new URLSearchParams({ particle: `in|${operand}` }).toString();
    const root = routes.directory('/vo');
    const found = await alice.get(`${root}/search`, { query });
    expect([found.status, found.body]).toEqual([200, { f: 0, s: 0 }]);
    for (const path of ['/filecatalogue/metadata', `${root}/metadata`]) {
      const values = await alice.get(path, { query });
      expect([path, values.status, values.body]).toEqual([path, 200, {}]);
    }
    for (const field of ['energy', 'beam', 'taken']) {
      const number = new URLSearchParams({ [field]: `=|${operand}` }).toString();
      expect((await alice.get(`${root}/search`, { query: number })).status).toBe(400);
    }
    const key = new URLSearchParams({ [operand]: 'in|x' }).toString();
    expect((await alice.get(`${root}/search`, { query: key })).status).toBe(400);
    const operator = new URLSearchParams({ particle: `in ${operand}|x` }).toString();
    expect((await alice.get(`${root}/search`, { query: operator })).status).toBe(400);
    const after = new URLSearchParams({ limit: '1', after: operand }).toString();
    expect([200, 400]).toContain((await alice.get(root, { query: after })).status);
  });

  it('as a value is a value like any other', async () => {
    const path = `${TOP}/it's`;
    for (const value of SQL) {
      const set = await alice.put(`${routes.directory(path)}/metadata`, {
        json: { naming: value },
      });
      expect([set.status, set.body]).toEqual([200, { naming: value }]);
      const query = new URLSearchParams({ naming: `in|${value}` }).toString();
      const { body } = await alice.get(`${routes.directory(TOP)}/search`, { query });
      expect(body.d).toEqual({ "it's": { f: 1, s: 7 } });
    }
  });

  it('has broken nothing', async () => {
    const { body } = await alice.get(`${routes.directory('/vo/a')}/search`);
    expect(body).toMatchObject({ f: 3, s: 60 });
  });
});
