import { routes } from '../support/catalogue/http-catalogue.js';
import { startGrid, type Answer, type Grid, type GridClient } from '../support/testbed.js';

interface Line {
  path: string;
  attributes?: Record<string, unknown>;
  error?: { status: number; code: string; detail: string };
}

const NO_LIST = 'is not a list of at most 10000 texts';
const NDJSON = 'application/x-ndjson';

describe('POST /filecatalogue/lookup', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_CATALOGUE_GLOBAL_READ: 'false' } });
    [alice, bob] = [await grid.as('alice'), await grid.as('bob', 'grid_share')];
    await bulk(await grid.as('fred'), [
      { kind: 'directory', path: '/vo/secret', owner: 'alice', group: 'grid_user' },
      { kind: 'directory', path: '/vo/open', owner: 'alice', group: 'grid_user', mode: 511 },
    ]);
    await bulk(alice, [
      { kind: 'directory', path: '/vo/secret', mode: 448 },
      { kind: 'file', path: '/vo/secret/plan', size: 10 },
      { kind: 'directory', path: '/vo/secret/inner', mode: 511 },
      { kind: 'file', path: '/vo/secret/inner/plan', size: 11 },
      { kind: 'file', path: '/vo/open/a', size: 12 },
      { kind: 'file', path: '/vo/open/ü "quoted"', size: 13 },
    ]);
  });
  afterAll(() => grid?.remove());

  async function bulk(client: GridClient, lines: object[]): Promise<void> {
    const answer = await client.post<string>('/filecatalogue/bulk', {
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
      headers: { 'content-type': NDJSON },
    });
    expect({ status: answer.status, text: answer.bytes.toString('utf8') }).toEqual({
      status: 200,
      text: expect.stringContaining('"failed":0'),
    });
  }

  function lookUp(client: GridClient, json: unknown): Promise<Answer> {
    return client.post('/filecatalogue/lookup', { json });
  }

  async function linesOf(client: GridClient, paths: string[]): Promise<Line[]> {
    const answer = await lookUp(client, { paths });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe(`${NDJSON}; charset=utf-8`);
    const text = answer.bytes.toString('utf8');
    return text === ''
      ? []
      : text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Line);
  }

  const PATHS = [
    '/vo/open/a',
    '/vo/secret/plan',
    '/vo/secret/inner/plan',
    '/vo/secret/nothing',
    '/vo/nothing/at/all',
    '/vo/open',
    '/vo/open/ü "quoted"',
    '/nothing',
    '/vo/open/a',
    '/vo/open/a/b',
  ];

  it.each(['alice', 'bob'] as const)('answers %s what single reads answer', async (name) => {
    const client = name === 'alice' ? alice : bob;
    const lines = await linesOf(client, PATHS);
    expect(lines.map(({ path }) => path)).toEqual(PATHS);
    for (const { path, attributes, error } of lines) {
      const single = await client.get<Record<string, unknown>>(`${routes.file(path)}/attributes`);
      if (single.status === 200)
        expect({ path, attributes }).toEqual({ path, attributes: single.body });
      else {
        const { status, code, detail } = single.body;
        expect({ path, error }).toEqual({ path, error: { status, code, detail } });
      }
    }
  });

  it('tells a hidden file as a missing one', async () => {
    expect(await linesOf(bob, ['/vo/secret/plan'])).toEqual([
      {
        path: '/vo/secret/plan',
        error: {
          status: 404,
          code: 'catalogue.file-not-found',
          detail: 'There is no file /vo/secret/plan',
        },
      },
    ]);
  });

  it.each([
    ['', 'The path must begin with /'],
    ['/', 'The path names a directory'],
    ['/vo//a', 'The path has an empty name (// or / at the end)'],
    ['/vo/../a', 'The path has a .. segment'],
  ])('refuses the path "%s" in its line', async (path, detail) => {
    expect(await linesOf(alice, [path, '/vo/open/a'])).toEqual([
      { path, error: { status: 400, code: 'request.invalid', detail } },
      { path: '/vo/open/a', attributes: expect.objectContaining({ Size: 12 }) },
    ]);
  });

  it('takes ten thousand paths and answers them in order', async () => {
    const paths = Array.from({ length: 10_000 }, (_, n) =>
      n % 3 ? `/vo/open/n${n}` : '/vo/open/a',
    );
    const lines = await linesOf(alice, paths);
    expect(lines.map(({ path }) => path)).toEqual(paths);
    expect(lines.every(({ attributes }, n) => (attributes === undefined) === (n % 3 !== 0))).toBe(
      true,
    );
  });

  it('answers no path with no line', async () => {
    expect(await linesOf(alice, [])).toEqual([]);
  });

  it.each([
    [{}, 'is missing'],
    [{ paths: '/vo' }, NO_LIST],
    [{ paths: [1] }, NO_LIST],
    [{ paths: Array.from({ length: 10_001 }, () => '/a') }, NO_LIST],
  ])('refuses the body %#', async (json, problem) => {
    const { status, body } = await lookUp(alice, json);
    expect({ status, body }).toEqual({
      status: 400,
      body: expect.objectContaining({
        code: 'request.invalid',
        violations: [{ field: 'paths', problem }],
      }),
    });
  });

  it('takes the paths as lines, and lines of other answers as they are', async () => {
    const body = '"/vo/open/a"\r\n\n{"path":"/vo/open/ü \\"quoted\\"","size":1}\n"/nothing"';
    const headers = { 'content-type': `${NDJSON}; charset=utf-8` };
    const answer = await alice.post('/filecatalogue/lookup', { body, headers });
    const json = await lookUp(alice, { paths: ['/vo/open/a', '/vo/open/ü "quoted"', '/nothing'] });
    expect([answer.status, answer.bytes.toString('utf8')]).toEqual([
      200,
      json.bytes.toString('utf8'),
    ]);
  });

  const NO_PATH = 'is neither a path as JSON text nor an object with such a path';

  it.each([
    ['"/vo"\n/vo', 400, 'request.malformed-body', /^Line 2 is not valid JSON/],
    ['"/vo"\n1', 400, 'request.malformed-body', new RegExp(`^Line 2 ${NO_PATH}$`)],
    ['{"paths":["/vo"]}', 400, 'request.malformed-body', new RegExp(`^Line 1 ${NO_PATH}$`)],
    ['{"path":1}', 400, 'request.malformed-body', new RegExp(`^Line 1 ${NO_PATH}$`)],
    ['"/vo/\\u0000"', 400, 'request.malformed-body', /^Line 1 has a text with a NUL/],
    [
      '{"path":"/vo","a":1e400}',
      400,
      'request.malformed-body',
      /^Line 1 is not valid JSON: A number is beyond 1\.8e308$/,
    ],
    [Buffer.from([0x22, 0xff, 0x22]), 400, 'request.malformed-body', /^Line 1 is not valid UTF-8$/],
    ['"/a"\n'.repeat(10_001), 400, 'request.invalid', /more than 10000 lines/],
    ['"/a"\n'.repeat(300_000), 413, 'request.too-large', /larger than 1048576 bytes/],
  ])('refuses the lines %#', async (body, status, code, detail) => {
    const answer = await alice.post<{ detail: string }>('/filecatalogue/lookup', {
      body,
      headers: { 'content-type': NDJSON },
    });
    expect([answer.status, answer.body]).toEqual([
      status,
      expect.objectContaining({ code, detail: expect.stringMatching(detail) }),
    ]);
  });

  it('refuses another key, another type and a caller without a token', async () => {
    expect((await lookUp(alice, { paths: [], more: 1 })).status).toBe(400);
    const text = { body: '/vo', headers: { 'content-type': 'text/plain' } };
    expect((await alice.post('/filecatalogue/lookup', text)).status).toBe(415);
    expect((await lookUp(grid.anonymous, { paths: [] })).status).toBe(401);
  });
});
