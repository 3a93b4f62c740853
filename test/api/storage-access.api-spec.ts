import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { AuditTrail } from '../support/audit-trail.js';
import { bulk } from '../support/catalogue/events.js';
import { ask, narrow } from '../support/grid-tokens.js';
import { startGrid, type Answer, type Grid, type GridClient } from '../support/testbed.js';

const ROUTE = '/filecatalogue/access';
const [A, B] = ['https://a.example.org:1094', 'https://b.example.org'];
const webdav = { kind: 'webdav' as const, vos: ['vo'] };
const STORAGE_ELEMENTS = [
  { name: 'SE-A', description: 'disk', url: `${A}/vo`, ...webdav },
  { name: 'SE-B', url: `${B}/data/vo/`, ...webdav, audience: 'storage-b' },
  { name: 'SE-NAME' },
  { name: 'SE-ANY', url: 'https://c.example.org/vo', ...webdav, audience: ANY() },
  { name: 'SE-ELSE', url: 'https://d.example.org', kind: webdav.kind, vos: ['else', 'third'] },
];
const LINES = [
  { path: '/vo/in/f1', replicas: [{ se: 'SE-B' }, { se: 'SE-A' }] },
  { path: '/vo/in/f2', replicas: [{ se: 'SE-B' }] },
  { path: '/vo/in/a b/ü+100%', replicas: [{ se: 'SE-A' }] },
  { path: '/vo/in/nowhere' },
  { path: '/vo/in/named', replicas: [{ se: 'SE-NAME', pfn: `${A}/vo/in/named` }] },
  { path: '/vo/in/any', replicas: [{ se: 'SE-ANY' }] },
  { path: '/vo/in/foreign', replicas: [{ se: 'SE-ELSE' }] },
  { path: '/vo/mixed/a b', replicas: [{ se: 'SE-A' }] },
  { path: '/vo/mixed/closed/f', replicas: [{ se: 'SE-A' }] },
  { path: '/vo/closed/f', replicas: [{ se: 'SE-A' }] },
  // Where a PFN says that it lies.
  { path: '/vo/in/own', replicas: [{ se: 'SE-A', pfn: `${A}/vo/in/own` }] },
  { path: '/vo/in/x=1+', replicas: [{ se: 'SE-A', pfn: `${A}/vo/in/x=1%2b` }] },
  { path: '/vo/in/open', replicas: [{ se: 'SE-A', pfn: `${A}/vo/in/f1` }] },
  { path: '/vo/in/borrowed', replicas: [{ se: 'SE-A', pfn: `${A}/vo/closed/f` }] },
  ...[
    ['gone', `${A}/vo/in/notthere/deep/f`],
    ['below', `${A}/vo/in/below/f`],
    ['host', 'https://evil.example.org/vo/in/host'],
    ['beside', `${A}/vo2/in/beside`],
    ['up', `${A}/vo/in/../../else/f`],
    ['escaped', `${A}/vo/in/%2e%2e/%2e%2e/else/f`],
    ['query', `${A}/vo/in/f1?authz=x`],
    ['user', 'https://a.example.org:1094@evil.example.org/vo/in/user'],
    ['protocol', 'root://a.example.org:1094//vo/in/protocol'],
  ].map(([name = '', pfn = '']) => ({ path: `/vo/in/${name}`, replicas: [{ se: 'SE-A', pfn }] })),
];

const none = (path: string, place = 'a storage element with an address'): string =>
  `No replica of ${path} lies at ${place}, or its PFN is the address of something else that you may not read`;

function ANY(): string {
  return 'https://wlcg.cern.ch/jwt/v1/any';
}

describe('POST /filecatalogue/access', () => {
  let directory: string;
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  let carol: GridClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-access-'));
    const other = { name: 'else_user', vo: 'else', properties: new Set(['NormalUser'] as const) };
    const groups = [
      ...DEMO_REGISTRY.groups,
      { ...other, members: ['carol'], idpScopes: [] },
      { ...other, name: 'third_user', vo: 'third', members: [], idpScopes: [] },
    ];
    const path = join(directory, 'r.yaml');
    const contents = { ...DEMO_REGISTRY, groups, storageElements: STORAGE_ELEMENTS };
    await writeFile(path, writeRegistryFile(contents));
    grid = await startGrid({
      env: {
        ...{ GRID_REGISTRY: path, GRID_REGISTRY_SYNC: 'true' },
        ...{ GRID_CATALOGUE_GLOBAL_READ: 'false', GRID_ACCESS_TOKEN_TTL: '1200' },
      },
    });
    alice = await grid.as('alice');
    bob = await grid.as('bob', 'grid_share');
    carol = grid.bearer(await grid.token('carol', 'else_user'));
    await bulk(
      await grid.as('fred'),
      { kind: 'directory', path: '/vo/in', owner: 'alice', group: 'grid_user', mode: 0o777 },
      { kind: 'directory', path: '/vo/mixed', owner: 'alice', group: 'grid_user', mode: 0o777 },
      { kind: 'directory', path: '/vo/closed', owner: 'alice', group: 'grid_user' },
    );
    await bulk(
      alice,
      ...['/vo/closed', '/vo/mixed/closed'].map((path) => ({
        kind: 'directory',
        path,
        mode: 0o700,
      })),
      ...LINES.map((line) => ({
        ...{ kind: 'file', size: 10, checksum: '0a1b2c3d', checksumType: 'Adler32' },
        ...line,
      })),
    );
  });
  afterAll(async () => {
    await grid?.remove();
    await rm(directory, { recursive: true, force: true });
  });

  const access = (client: GridClient, paths: unknown, more: object = {}): Promise<Answer> =>
    client.post(ROUTE, { json: { paths, right: 'read', ...more } });

  const tokenIn = ({ headers }: { headers: Record<string, string> }): string => {
    const [, token = ''] = /^Bearer (\S+)$/.exec(headers['Authorization'] ?? '') ?? [];
    return token;
  };

  it('answers where a file lies, and a token for this file there', async () => {
    const answer = await access(alice, ['/vo/in/f1']);
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(answer.headers['referrer-policy']).toBe('no-referrer');
    expect(answer.body).toEqual([
      {
        ...{ path: '/vo/in/f1', se: 'SE-A', url: `${A}/vo/in/f1`, size: 10 },
        ...{ checksum: { adler32: '0a1b2c3d' }, expires: expect.any(String) },
        headers: { Authorization: expect.stringMatching(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/) },
      },
    ]);
    const [file] = answer.body;
    const own = decodeJwt(alice.token ?? '');
    const { exp = 0, iat = 0, jti = '', ...claims } = decodeJwt(tokenIn(file));
    expect(claims).toEqual({
      ...{ iss: grid.url, sub: own.sub, aud: A, scope: 'storage.read:/vo/in/f1' },
      ...{ client_id: 'certificate', group: 'grid_user', setup: 'Prod', nbf: iat - 60 },
      ...{ preferred_username: 'alice', 'wlcg.ver': '1.0' },
    });
    expect(exp - iat).toBe(900);
    expect(new Date(exp * 1000).toISOString()).toBe(file.expires);
    expect(jti.startsWith(`${own.jti}.`)).toBe(true); // revoked with the token of the request
    const { status } = await grid.bearer(tokenIn(file)).get('/jobs/summary');
    expect(status).toBe(401);
  });

  it('takes the element that is asked for, its audience, and so many seconds', async () => {
    const { body } = await access(alice, ['/vo/in/f1'], { se: 'SE-B', seconds: 60 });
    expect(body).toMatchObject([{ se: 'SE-B', url: `${B}/data/vo/in/f1` }]);
    const { aud, exp = 0, iat = 0 } = decodeJwt(tokenIn(body[0]));
    expect([aud, exp - iat]).toEqual(['storage-b', 60]);
  });

  it('gives nothing that outlives the token of the request, and tells who acts', async () => {
    const { body: narrowed } = await narrow(
      grid,
      alice.token ?? '',
      { scope: 'catalogue:read' },
      'gridgate-cli',
    );
    const own = decodeJwt(narrowed.access_token);
    const { body } = await access(grid.bearer(narrowed.access_token), ['/vo/in/f1'], {
      seconds: 3_600,
    });
    const { exp, act } = decodeJwt(tokenIn(body[0]));
    expect([exp, act]).toEqual([own.exp, { sub: 'gridgate-cli' }]);
  });

  it('escapes names in addresses, and opens the directory where a scope would have to', async () => {
    const { body } = await access(alice, ['/vo/in/a b/ü+100%']);
    expect(body[0].url).toBe(`${A}/vo/in/a%20b/%C3%BC%2B100%25`);
    expect(decodeJwt(tokenIn(body[0]))['scope']).toBe('storage.read:/vo/in');
    const [own, others] = [
      await access(alice, ['/vo/mixed/a b']),
      await access(bob, ['/vo/mixed/a b']),
    ];
    expect(decodeJwt(tokenIn(own.body[0]))['scope']).toBe('storage.read:/vo/mixed');
    expect([others.status, others.body.code]).toEqual([409, 'catalogue.no-address']);
    expect(others.body.detail).toContain('you may not read all of /vo/mixed, which');
  });

  it('answers many files in their order, with one token for each element', async () => {
    const paths = ['/vo/in/f2', '/vo/in/f1', '/vo/in/a b/ü+100%', '/vo/in/f2'];
    const { body } = await access(alice, paths);
    expect(body.map(({ path, se }: { path: string; se: string }) => [path, se])).toEqual([
      ['/vo/in/f2', 'SE-B'],
      ['/vo/in/f1', 'SE-A'],
      ['/vo/in/a b/ü+100%', 'SE-A'],
      ['/vo/in/f2', 'SE-B'],
    ]);
    const tokens = body.map(tokenIn);
    expect([tokens[0] === tokens[3], tokens[1] === tokens[2], new Set(tokens).size]).toEqual([
      ...[true, true, 2],
    ]);
  });

  it('answers a thousand files with tokens of at most 4 KiB, each with its scope', async () => {
    const name = (index: number): string => `/vo/in/many/${'long-'.repeat(10)}${index}`;
    const paths = Array.from({ length: 1_000 }, (_, index) => name(index));
    await bulk(
      alice,
      ...paths.map((path) => ({ kind: 'file', path, size: 1, replicas: [{ se: 'SE-A' }] })),
    );
    const { status, body } = await access(alice, paths);
    expect([status, body.length]).toEqual([200, 1_000]);
    const lengths = new Set<number>();
    for (const file of body) {
      const token = tokenIn(file);
      lengths.add(token.length);
      const scopes = String(decodeJwt(token)['scope']).split(' ');
      expect(scopes).toContain(`storage.read:${file.path}`);
    }
    expect(Math.max(...lengths)).toBeLessThanOrEqual(4_096);
    expect(new Set(body.map(tokenIn)).size).toBeLessThan(60);
    expect((await access(alice, [...paths, '/vo/in/f1'])).body.detail).toBe(
      'paths: is not a list of 1 to 1000 texts',
    );
  });

  it('follows a PFN to where its reader may read, and nowhere else', async () => {
    const urlOf = async (client: GridClient, path: string): Promise<unknown> => {
      const { body } = await access(client, [path]);
      return body[0] ? [body[0].url, decodeJwt(tokenIn(body[0]))['scope']] : body.code;
    };
    const closed = [`${A}/vo/closed/f`, 'storage.read:/vo/closed/f'];
    expect(await urlOf(bob, '/vo/in/own')).toEqual([`${A}/vo/in/own`, 'storage.read:/vo/in/own']);
    const spelt = [`${A}/vo/in/x%3D1%2B`, 'storage.read:/vo/in/x=1+'];
    expect(await urlOf(bob, '/vo/in/x=1+')).toEqual(spelt);
    expect(await urlOf(bob, '/vo/in/open')).toEqual([`${A}/vo/in/f1`, 'storage.read:/vo/in/f1']);
    expect(await urlOf(alice, '/vo/in/borrowed')).toEqual(closed);
    expect(await urlOf(bob, '/vo/in/borrowed')).toBe('catalogue.no-address');
    for (const name of [
      'gone',
      'below',
      'host',
      'beside',
      'up',
      'escaped',
      'query',
      'user',
      'protocol',
    ]) {
      expect(await urlOf(alice, `/vo/in/${name}`)).toBe('catalogue.no-address');
    }
  });

  it('refuses a file that lies at no address, and then gives nothing', async () => {
    for (const name of ['nowhere', 'named', 'foreign', 'any']) {
      const { status, body } = await access(alice, ['/vo/in/f1', `/vo/in/${name}`]);
      expect([status, body.code, body.detail]).toEqual([
        ...[409, 'catalogue.no-address', none(`/vo/in/${name}`)],
      ]);
    }
    const { body } = await access(alice, ['/vo/in/f2'], { se: 'SE-A' });
    expect(body.detail).toBe(none('/vo/in/f2', 'SE-A'));
    const unsigned = await access(alice, ['/vo/in/f2'], { presigned: true });
    expect(unsigned.body.detail).toBe(none('/vo/in/f2', 'an S3 store'));
  });

  it('follows no PFN to what the catalogue does not know any more', async () => {
    await bulk(alice, { kind: 'file', path: '/vo/closed/past', size: 1 });
    const pfn = `${A}/vo/closed/past`;
    await bulk(alice, {
      kind: 'file',
      path: '/vo/in/past',
      size: 1,
      replicas: [{ se: 'SE-A', pfn }],
    });
    expect((await access(alice, ['/vo/in/past'])).status).toBe(200);
    const path = Buffer.from('/vo/closed/past').toString('base64url');
    expect((await alice.delete(`/filecatalogue/file/${path}`)).status).toBe(200);
    expect((await access(alice, ['/vo/in/past'])).body.detail).toBe(none('/vo/in/past'));
  });

  it('refuses a name that no token has room for', async () => {
    const path = `/vo/in/${'n'.repeat(255)}${`/${'ab'.repeat(127)}`.repeat(13)}`;
    await bulk(alice, { kind: 'file', path, size: 1, replicas: [{ se: 'SE-A' }] });
    const { status, body } = await access(alice, [path]);
    expect([status, body.code]).toEqual([409, 'catalogue.no-address']);
    expect(body.detail).toContain('is larger than storage services take: /vo/in/nnn');
  });

  it('hides what may not be seen', async () => {
    for (const [client, path] of [
      [bob, '/vo/closed/f'],
      [bob, '/vo/closed/none'],
      [carol, '/vo/in/f1'],
    ] as const) {
      const { status, body } = await access(client, [path]);
      expect([status, body.code]).toEqual([404, 'catalogue.file-not-found']);
    }
    expect((await access(bob, ['/vo/in/f1', '/vo/closed/f'])).status).toBe(404);
  });

  it.each([
    [{ right: 'stage' }, 'right', 'is not one of read, create'],
    [{ seconds: 0 }, 'seconds', 'must be at least 1'],
    [{ seconds: 3_601 }, 'seconds', 'must be at most 3600'],
    [{ paths: [] }, 'paths', 'is not a list of 1 to 1000 texts'],
    [{ paths: ['/vo/in/f1', 'f1'] }, 'paths[1]', 'must begin with /'],
    [{ paths: ['/'] }, 'paths[0]', 'names a directory'],
    [{ se: 'SE-X' }, 'se', 'there is no storage element SE-X with an address for you'],
    [{ se: 'SE-NAME' }, 'se', 'there is no storage element SE-NAME with an address for you'],
    [{ se: 'SE-ELSE' }, 'se', 'there is no storage element SE-ELSE with an address for you'],
  ])('refuses %j', async (change, field, problem) => {
    const { status, body } = await access(alice, ['/vo/in/f1'], change);
    expect([status, body.detail]).toEqual([400, `${field}: ${problem}`]);
  });

  it('refuses who has not the right', async () => {
    expect((await access(grid.anonymous, ['/vo/in/f1'])).status).toBe(401);
    const jobs = grid.bearer(await grid.token('alice', 'grid_user', 'Prod', 'jobs:read'));
    expect((await access(jobs, ['/vo/in/f1'])).body.code).toBe('auth.insufficient-scope');
    const { body } = await ask(grid, 'alice', { scope: 'storage.read:/vo/in/f2' });
    const narrow = grid.bearer(body.access_token as string);
    expect((await access(narrow, ['/vo/in/f2'])).status).toBe(200);
    const refused = await access(narrow, ['/vo/in/f2', '/vo/in/f1']);
    expect([refused.status, refused.body.code]).toEqual([403, 'auth.insufficient-scope']);
  });

  it('is told in the audit trail, without addresses and tokens', async () => {
    const trail = new AuditTrail(grid);
    const answer = await access(alice, ['/vo/in/f1', '/vo/in/f2']);
    expect(await trail.lineOf(answer, 'catalogue.access-given')).toEqual({
      ...{ outcome: 'done', user: 'alice', group: 'grid_user', setup: 'Prod' },
      ...{ client: 'certificate', right: 'read', files: 2, ses: ['SE-A', 'SE-B'] },
      paths: ['/vo/in/f1', '/vo/in/f2'],
    });
    const log = JSON.stringify(trail.log.lines());
    for (const file of answer.body) {
      expect(log).not.toContain(tokenIn(file).split('.')[1]);
      expect(log).not.toContain(file.url);
    }
  });
});
