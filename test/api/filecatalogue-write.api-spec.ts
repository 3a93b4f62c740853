import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

let grid: Grid;
let alice: GridClient;
let carol: GridClient;
let fred: GridClient;
let mona: GridClient;

const at = (path: string): string => Buffer.from(path).toString('base64url');
const directory = (path: string): string => `/filecatalogue/directory/${at(path)}`;
const file = (path: string): string => `/filecatalogue/file/${at(path)}`;

beforeAll(async () => {
  grid = await startGrid();
  [alice, carol, fred, mona] = await Promise.all([
    grid.as('alice'),
    grid.as('carol'),
    grid.as('fred'),
    grid.as('mona'),
  ]);
});

afterAll(() => grid?.remove());

async function totals(path: string): Promise<unknown> {
  const { f, s } = (await alice.get(`${directory(path)}/search`)).body;
  return { f, s };
}

async function bulk(
  client: GridClient,
  lines: (object | string)[],
): Promise<{ status: number; lines: any[] }> {
  const text = lines
    .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
    .join('\n');
  const answer = await client.post('/filecatalogue/bulk', {
    body: text,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const out = answer.bytes
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return { status: answer.status, lines: out.map((line) => JSON.parse(line)) };
}

describe('directories', () => {
  it('are made with those above them, and again without harm', async () => {
    const path = "/vo/new/it's 100% ~/日本";
    const first = await alice.post(directory(path), { json: { Mode: 488 } });
    expect([first.status, first.body]).toEqual([201, { path, created: true }]);
    const again = await alice.post(directory(path));
    expect([again.status, again.body]).toEqual([200, { path, created: false }]);
    const { body } = await alice.get(directory("/vo/new/it's 100% ~"), { query: 'verbose=1' });
    expect(body.SubDirs['日本']).toMatchObject({
      Owner: 'alice',
      OwnerGroup: 'grid_user',
      Mode: 488,
    });
  });

  it('are removed when they are empty', async () => {
    await alice.put(file('/vo/full/f'), { json: { Size: 1 } });
    const full = await alice.delete(directory('/vo/full'));
    expect([full.status, full.body.code]).toEqual([409, 'catalogue.not-empty']);
    await alice.delete(file('/vo/full/f'));
    const gone = await alice.delete(directory('/vo/full'));
    expect([gone.status, gone.body]).toEqual([200, { path: '/vo/full', deleted: true }]);
    expect((await alice.delete(directory('/vo/full'))).status).toBe(404);
  });

  it('need w on the directory above, and the scope', async () => {
    expect((await alice.post(directory('/elsewhere'))).status).toBe(403);
    expect((await fred.post(directory('/elsewhere'))).status).toBe(201);
    const answer = await mona.post(directory('/vo/by-mona'));
    expect([answer.status, answer.body.code]).toEqual([403, 'auth.insufficient-scope']);
  });

  it('refuse unknown members and bad modes', async () => {
    expect((await alice.post(directory('/vo/x'), { json: { mode: 1 } })).status).toBe(400);
    expect((await alice.post(directory('/vo/x'), { json: { Mode: 512 } })).status).toBe(400);
    expect((await alice.post(directory('/vo/c/f6'))).status).toBe(409);
    expect((await alice.post(directory('/vo/c/f6/below'))).status).toBe(409);
  });
});

describe('files', () => {
  const content = {
    Size: 9007199254740990,
    Checksum: 'ad8b1f02',
    GUID: 'B7A1D2C4-0B5E-4E0F-9D0C-2A2B8E9B2B11',
    Replicas: { 'SE-A': { PFN: 'srm://a/x' }, 'SE-B': {} },
  };

  it('are registered once, seen in totals at once, and keep every digit', async () => {
    const path = '/vo/files/deep/f';
    const first = await alice.put(file(path), { json: content });
    expect([first.status, first.body]).toEqual([201, { path, created: true }]);
    expect((await alice.put(file(path), { json: content })).status).toBe(200);
    const other = await alice.put(file(path), { json: { ...content, Size: 1 } });
    expect([other.status, other.body.code]).toEqual([409, 'catalogue.exists']);
    const big = '{"Size": 9223372036854775807}';
    const headers = { 'content-type': 'application/json' };
    await alice.put(file('/vo/files/deep/g'), { body: big, headers });
    await alice.put(file('/vo/files/deep/h'), { body: big, headers });
    const answer = await alice.get(`${directory('/vo/files')}/search`);
    const sum = 9007199254740990n + 2n * 9223372036854775807n;
    expect(answer.bytes.toString()).toBe(`{"f":3,"s":${sum},"d":{"deep":{"f":3,"s":${sum}}}}`);
    const listing = await alice.get(directory('/vo/files/deep'), { query: 'verbose=true' });
    expect(listing.bytes.toString()).toContain('"Size":9223372036854775807');
    expect(listing.body.Files.f.Replicas).toEqual({
      'SE-A': { Status: 'AprioriGood', PFN: 'srm://a/x' },
      'SE-B': { Status: 'AprioriGood', PFN: '' },
    });
  });

  const noSize = 'is not a number of bytes (0 to 2^63-1)';
  it.each([
    [{}, 'Size', 'is missing'],
    [{ Size: -1 }, 'Size', noSize],
    [{ Size: 1.5 }, 'Size', noSize],
    [{ Size: '1' }, 'Size', noSize],
    [{ Size: 1, Replicas: { 'SE-X': {} } }, 'Replicas', 'SE-X is not known'],
    [{ Size: 1, Owner: 'bob' }, 'Owner', 'is not known here'],
    [{ Size: 1, Checksum: '' }, 'Checksum', 'is not a text'],
    [{ Size: 1, Checksum: 'a b' }, 'Checksum', 'is malformed'],
    [{ Size: 1, ChecksumType: 7 }, 'ChecksumType', 'is not a text'],
    [{ Size: 1, GUID: 'ü' }, 'GUID', 'is malformed'],
    [{ Size: 1, Mode: null }, 'Mode', 'is not a decimal number from 0 to 511 (octal 777)'],
    [{ Size: 1, Replicas: null }, 'Replicas', 'is not a JSON object'],
    [{ Size: 1, Replicas: [] }, 'Replicas', 'is not a JSON object'],
    [{ Size: 1, Replicas: { 'SE-A': null } }, 'Replicas', 'SE-A is not a JSON object'],
    [{ Size: 1, Replicas: { 'SE-A': { se: 'x' } } }, 'se', 'is not known here'],
    [{ Size: 1, Replicas: { 'SE-A': { PFN: 1 } } }, 'PFN', 'is not a text'],
    [{ Size: 1, Replicas: { 'SE-A': { PFN: 'x'.repeat(4097) } } }, 'PFN', 'is too long'],
    [
      { Size: 1, Replicas: { PFN: 'srm://a/x' } },
      'Replicas',
      'has PFN without its storage element (SE); it is written {"<storage element>":{"PFN":"…"}}',
    ],
  ])('refuse %j', async (json, field, problem) => {
    const answer = await alice.put(file('/vo/files/bad'), { json });
    expect([answer.status, answer.body.violations]).toEqual([400, [{ field, problem }]]);
  });

  it('refuse all faults of a body at once', async () => {
    const json = { Size: -1, Mode: 512, Owner: 'bob' };
    const answer = await alice.put(file('/vo/files/bad'), { json });
    expect([answer.status, answer.body.violations]).toEqual([
      400,
      [
        { field: 'Owner', problem: 'is not known here' },
        { field: 'Size', problem: noSize },
        { field: 'Mode', problem: 'is not a decimal number from 0 to 511 (octal 777)' },
      ],
    ]);
  });

  it('refuse a line whose replica says no storage element, and name what is missing', async () => {
    const lines = [{ pfn: 'srm://a/x' }, { PFN: 'srm://a/x' }].map((replica) =>
      JSON.stringify({ kind: 'file', path: '/vo/files/bad', size: 1, replicas: [replica] }),
    );
    const headers = { 'content-type': 'application/x-ndjson' };
    const answer = await alice.post('/filecatalogue/bulk', { body: lines.join('\n'), headers });
    const detail = 'replicas: has an entry without se';
    const invalid = { status: 400, code: 'request.invalid' };
    expect(
      answer.bytes
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { line: 1, path: '/vo/files/bad', ...invalid, detail },
      { line: 2, path: '/vo/files/bad', ...invalid, detail },
      { lines: 2, created: 0, updated: 0, unchanged: 0, failed: 2 },
    ]);
  });

  it('need w on their directory', async () => {
    await alice.post(directory('/vo/mine'), { json: { Mode: 0o755 } });
    const answer = await carol.put(file('/vo/mine/f'), { json: { Size: 1 } });
    expect([answer.status, answer.body.code]).toEqual([403, 'catalogue.forbidden']);
    expect((await carol.put(file('/vo/a'), { json: { Size: 1 } })).status).toBe(409);
    expect((await alice.delete(file('/vo/mine/f'))).status).toBe(404);
  });
});

describe('metadata', () => {
  it('is declared by catalogue managers', async () => {
    expect(
      (await alice.post('/filecatalogue/metadata', { json: { name: 'tag', type: 'string' } }))
        .status,
    ).toBe(403);
    const declared = await fred.post('/filecatalogue/metadata', {
      json: { name: 'tag', type: 'string' },
    });
    expect([declared.status, declared.body]).toEqual([201, { name: 'tag', type: 'string' }]);
    expect(
      (await fred.post('/filecatalogue/metadata', { json: { name: 'tag', type: 'string' } }))
        .status,
    ).toBe(200);
    expect(
      (await fred.post('/filecatalogue/metadata', { json: { name: 'tag', type: 'int' } })).status,
    ).toBe(409);
    expect(
      (await fred.post('/filecatalogue/metadata', { json: { name: 'a b', type: 'int' } })).status,
    ).toBe(400);
  });

  it('of a directory is merged, replaced and removed', async () => {
    const target = `${directory('/vo/meta/one')}/metadata`;
    await alice.post(directory('/vo/meta/one'));
    expect((await alice.patch(target, { json: { run: 7, colour: 'blue' } })).body).toEqual({
      colour: 'blue',
      run: 7,
    });
    expect((await alice.patch(target, { json: { run: 8, colour: null } })).body).toEqual({
      run: 8,
    });
    expect((await alice.put(target, { json: { colour: 'red' } })).body).toEqual({ colour: 'red' });
    expect((await alice.get(target)).body).toEqual({ colour: ['red'] });
    expect((await alice.patch(target, { json: { nothing: 1 } })).status).toBe(400);
    expect((await alice.patch(target, { json: { run: 'x' } })).status).toBe(400);
    expect(
      (await alice.patch(`${directory('/vo/none')}/metadata`, { json: { run: 1 } })).status,
    ).toBe(404);
  });

  it('conflicts in both directions', async () => {
    await alice.post(directory('/vo/way/deep/er'));
    const set = (path: string) => alice.patch(`${directory(path)}/metadata`, { json: { size: 1 } });
    expect((await set('/vo/way/deep')).status).toBe(200);
    for (const path of ['/vo/way', '/vo/way/deep/er']) {
      const answer = await set(path);
      expect([answer.status, answer.body.code]).toEqual([409, 'catalogue.metadata-conflict']);
    }
  });

  it('of a file takes fields and free keys', async () => {
    const target = `${file('/vo/c/f6')}/metadata`;
    expect((await alice.patch(target, { json: { run: 5, note: 'a, b' } })).body).toEqual({
      run: 5,
      note: 'a, b',
    });
    expect((await alice.patch(target, { json: { run: null } })).body).toEqual({ note: 'a, b' });
    expect((await alice.patch(target, { json: { run: 'five' } })).status).toBe(400);
    expect((await alice.patch(target, { json: { note: [1] } })).status).toBe(400);
    expect((await alice.put(target, { json: {} })).body).toEqual({});
  });
});

describe('POST /filecatalogue/bulk', () => {
  it('applies lines in order, tells which failed, and is safe to send again', async () => {
    const lines = [
      { kind: 'directory', path: '/vo/bulk', metadata: { run: 3 } },
      {
        kind: 'file',
        path: '/vo/bulk/f1',
        size: 5,
        metadata: { note: 'x' },
        replicas: [{ se: 'SE-A', pfn: 'p' }],
      },
      '{broken',
      { kind: 'directory', path: '/vo/bulk/below', metadata: { run: 4 } },
      { kind: 'file', path: '/vo/bulk/f2', size: 6 },
      { kind: 'field', name: 'x', type: 'int' },
      { kind: 'file', path: '/vo/bulk/f3', size: 7, op: 'delete' },
      { kind: 'file', path: '/vo/bulk/f4', size: 8, owner: 'bob' },
    ];
    const first = await bulk(alice, lines);
    expect(first).toEqual({
      status: 200,
      lines: [
        { line: 3, status: 400, code: 'request.malformed-body', detail: expect.any(String) },
        {
          ...{ line: 4, path: '/vo/bulk/below', status: 409, code: 'catalogue.metadata-conflict' },
          detail: expect.stringContaining('run'),
        },
        {
          ...{ line: 6, path: 'x', status: 403, code: 'catalogue.forbidden' },
          detail: 'Declaring fields needs FileCatalogManagement',
        },
        {
          ...{ line: 8, path: '/vo/bulk/f4', status: 403, code: 'catalogue.owner-forbidden' },
          detail: 'Only a catalogue manager may set owner and group',
        },
        { lines: 8, created: 3, updated: 0, unchanged: 1, failed: 4 },
      ],
    });
    const again = await bulk(alice, lines.slice(0, 2));
    expect(again.lines).toEqual([{ lines: 2, created: 0, updated: 0, unchanged: 2, failed: 0 }]);
    expect(await totals('/vo/bulk')).toEqual({ f: 2, s: 11 });
  });

  it('refuses other content types and query keys', async () => {
    const body = '{}';
    const other = await alice.post('/filecatalogue/bulk', {
      body,
      headers: { 'content-type': 'text/html' },
    });
    expect(other.status).toBe(415);
    expect((await mona.post('/filecatalogue/bulk', { body })).status).toBe(403);
  });

  it('keeps totals exact under many writers at once', async () => {
    const before = (await totals('/vo')) as { f: number; s: number };
    const one = async (n: number): Promise<void> => {
      const path = `/vo/crowd/d${n % 7}/f${n}`;
      expect((await alice.put(file(path), { json: { Size: n } })).status).toBe(201);
      if (n % 3 === 0) expect((await alice.delete(file(path))).status).toBe(200);
      if (n % 5 !== 0) return;
      const target = `${directory(`/vo/crowd/d${n % 7}`)}/metadata`;
      expect((await alice.patch(target, { json: { run: n } })).status).toBe(200);
    };
    const queue = Array.from({ length: 200 }, (_, n) => n)[Symbol.iterator]();
    const worker = async (): Promise<void> => {
      for (const n of queue) await one(n);
    };
    await Promise.all(Array.from({ length: 32 }, worker));
    const kept = Array.from({ length: 200 }, (_, n) => n).filter((n) => n % 3 !== 0);
    const bytes = kept.reduce((sum, n) => sum + n, 0);
    const after = (await totals('/vo')) as { f: number; s: number };
    expect(after.f - before.f).toBe(kept.length);
    expect(await totals('/vo/crowd')).toEqual({ f: kept.length, s: bytes });
  });
});
