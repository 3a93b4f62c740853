import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGrid, type Answer, type Grid, type GridClient } from '../support/testbed.js';

let grid: Grid;
let alice: GridClient;

const at = (path: string): string => Buffer.from(path).toString('base64url');
const directory = (path: string): string => `/filecatalogue/directory/${at(path)}`;
const file = (path: string): string => `/filecatalogue/file/${at(path)}`;

beforeAll(async () => {
  grid = await startGrid();
  alice = await grid.as('alice');
});

afterAll(() => grid?.remove());

describe('GET /filecatalogue/metadata', () => {
  it('answers types and values compatible with the condition', async () => {
    const answer = await alice.get('/filecatalogue/metadata', { query: 'particle=in|mu' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.body).toEqual({
      energy: { type: 'int', values: [250] },
      particle: { type: 'string', values: ['mu'] },
      run: { type: 'int', values: [3] },
    });
  });

  it.each([
    ['unknown=1', 'request.unknown-parameter'],
    ['unknown==|1', 'request.invalid'],
    ['energy=like|1', 'request.invalid'],
    ['energy==|x', 'request.invalid'],
    ['maxValues=0', 'request.invalid'],
    ['maxValues=1&maxValues=2', 'request.invalid'],
    ['counts=perhaps', 'request.invalid'],
  ])('refuses ?%s with %s', async (query, code) => {
    const answer = await alice.get('/filecatalogue/metadata', { query });
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.body).toMatchObject({ status: 400, code, violations: [expect.any(Object)] });
  });

  it('needs a token', async () => {
    const answer = await grid.anonymous.get('/filecatalogue/metadata');
    expect(answer.status).toBe(401);
  });
});

describe('GET /filecatalogue/directory/<directory>', () => {
  it('lists names, with SubDirs and Files always there', async () => {
    expect((await alice.get(directory('/vo'))).body).toEqual({
      SubDirs: { a: true, b: true, c: true, empty: true, pq: true },
      Files: {},
    });
    expect((await alice.get(directory('/vo/empty'))).body).toEqual({ SubDirs: {}, Files: {} });
  });

  it('shows attributes and replicas when verbose', async () => {
    const { body } = await alice.get(directory('/vo/a/run1'), { query: 'verbose=yes' });
    expect(body).toEqual({
      SubDirs: {},
      Files: {
        f1: {
          MetaData: {
            FileID: expect.any(Number),
            Size: 10,
            GUID: '',
            Checksum: '',
            ChecksumType: '',
            Type: 'File',
            UID: expect.any(Number),
            Owner: 'alice',
            GID: expect.any(Number),
            OwnerGroup: 'grid_user',
            CreationDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
            ModificationDate: expect.any(String),
            Mode: 509,
            Status: 'AprioriGood',
          },
          Replicas: { 'SE-A': { Status: 'AprioriGood', PFN: '' } },
        },
        f2: expect.objectContaining({
          Replicas: expect.objectContaining({ 'SE-B': expect.anything() }),
        }),
      },
    });
    const { body: above } = await alice.get(directory('/vo'), { query: 'extra=true' });
    expect(above.SubDirs.a).toMatchObject({ Owner: 'alice', OwnerGroup: 'grid_user', Mode: 509 });
  });

  it('lists the root, encoded or bare, and accepts padding', async () => {
    const bare = await alice.get('/filecatalogue/directory');
    expect(Object.keys(bare.body.SubDirs)).toEqual(['demo', 'vo']);
    expect((await alice.get(directory('/'))).body).toEqual(bare.body);
    expect((await alice.get('/filecatalogue/directory/Lw%3D%3D')).body).toEqual(bare.body);
  });

  it('pages with a cursor, directories first', async () => {
    const names: string[] = [];
    for (let next: string | undefined = `${directory('/vo/a')}?limit=1`; next;) {
      const { body, headers }: Answer = await alice.get(next);
      names.push(...Object.keys(body.SubDirs), ...Object.keys(body.Files));
      next = /^<([^>]*)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1];
    }
    expect(names).toEqual(['run1', 'run2']);
  });

  it.each([
    ['/vo/none', 404, 'catalogue.directory-not-found'],
    ['/vo/a/run1/f1', 404, 'catalogue.directory-not-found'],
  ])('answers %s with %d', async (path, status, code) => {
    for (const route of ['', '/metadata', '/search']) {
      const answer = await alice.get(`${directory(path)}${route}`);
      expect([route, answer.status, answer.body.code]).toEqual([route, status, code]);
    }
  });

  it.each(['L3Z+', 'vo', at('vo'), at('/vo/../x'), at('/vo//x'), at('/vo/\0'), '%00'])(
    'refuses the code %s',
    async (code) => {
      const answer = await alice.get(`/filecatalogue/directory/${encodeURIComponent(code)}`);
      expect(answer.status).toBe(400);
      expect(answer.body.violations).toEqual([{ field: 'directory', problem: expect.any(String) }]);
    },
  );

  it.each(['limit=0', 'limit=x', 'after=%25', 'verbose=2', 'verbose=1&verbose=1', 'page_size=5'])(
    'refuses ?%s',
    async (query) => {
      expect((await alice.get(directory('/vo'), { query })).status).toBe(400);
    },
  );
});

describe('GET /filecatalogue/directory/<directory>/metadata', () => {
  it('answers the values of the directory, above and below', async () => {
    expect((await alice.get(`${directory('/vo/a/run1')}/metadata`)).body).toEqual({
      energy: [100],
      particle: ['e'],
      run: [1],
    });
    const capped = await alice.get(`${directory('/vo/a')}/metadata`, {
      query: 'maxValues=1&run=>|0',
    });
    expect(capped.body.run).toEqual({ values: [1], total: 2, min: 1, max: 2 });
    expect((await alice.get(`${directory('/vo/b')}/metadata`, { query: 'run==|1' })).body).toEqual(
      {},
    );
  });
});

describe('GET /filecatalogue/directory/<directory>/search', () => {
  it('answers the tree with exact totals', async () => {
    const answer = await alice.get(`${directory('/vo')}/search`, { query: 'particle=in|e' });
    expect(answer.body).toEqual({
      f: 0,
      s: 0,
      d: { a: { f: 3, s: 60, d: { run1: { f: 2, s: 30 }, run2: { f: 1, s: 30 } } } },
    });
  });

  it('answers lines when they are asked for, and the tree to who accepts neither, as every route does', async () => {
    const headers = { accept: 'application/x-ndjson' };
    const answer = await alice.get(`${directory('/vo')}/search`, { query: 'run==|3', headers });
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    expect(answer.bytes.toString()).toBe('{"path":"/vo/b/run3","files":2,"size":90}\n');
    const picky = await alice.get(`${directory('/vo')}/search`, {
      headers: { accept: 'text/html' },
    });
    expect([picky.status, picky.headers['content-type']]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
  });

  it('finds nothing with an operand that looks like SQL', async () => {
    const query = new URLSearchParams({
      particle: `in|e'); drop table catalogue_file; --`,
    }).toString();
    const answer = await alice.get(`${directory('/vo')}/search`, { query });
    expect([answer.status, answer.body]).toEqual([200, { f: 0, s: 0 }]);
  });

  it('streams the whole demo tree', async () => {
    const answer = await alice.get(`${directory('/demo')}/search`);
    expect(answer.body).toMatchObject({ f: 19_800, d: { polar: { f: 3_960 } } });
    expect(Object.keys(answer.body.d)).toHaveLength(5);
  });
});

describe('GET /filecatalogue/file/<file>', () => {
  it('answers attributes and metadata', async () => {
    const attributes = await alice.get(`${file('/vo/b/run3/f4')}/attributes`);
    expect(attributes.body).toMatchObject({
      Size: 40,
      Owner: 'alice',
      OwnerGroup: 'grid_user',
      Mode: 509,
    });
    expect((await alice.get(`${file('/vo/a/run1/f1')}/metadata`)).body).toEqual({ quality: 7 });
    const inherited = await alice.get(`${file('/vo/a/run1/f1')}/metadata`, {
      query: 'inherited=true',
    });
    expect(inherited.body).toEqual({ energy: 100, particle: 'e', run: 1, quality: 7 });
    expect((await alice.get(`${file('/vo/c/f6')}/metadata`)).body).toEqual({});
  });

  it.each(['/vo/a/run1/none', '/vo/none/f', '/vo/a'])('answers 404 for %s', async (path) => {
    for (const what of ['attributes', 'metadata']) {
      const answer = await alice.get(`${file(path)}/${what}`);
      expect([answer.status, answer.body.code]).toEqual([404, 'catalogue.file-not-found']);
    }
  });

  it('refuses a code that is no file', async () => {
    expect((await alice.get('/filecatalogue/file/Lw/attributes')).status).toBe(400);
    expect((await alice.get(`${file('/vo/c/f6')}/attributes`, { query: 'x=1' })).status).toBe(400);
  });
});
