import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { AuditTrail } from '../support/audit-trail.js';
import { bulk } from '../support/catalogue/events.js';
import { narrow } from '../support/grid-tokens.js';
import { PlayedStorage } from '../support/storage/played-storage.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const TEXT = 'bytes of the file';
const ETAG = '"adler32-0a1b2c3d-17"';
const LARGE = 64 * 1024 * 1024;
const BLOCK = Buffer.alloc(1024 * 1024, 'x');

/** Where the bytes of a file are read. */
const at = (path: string): string =>
  `/filecatalogue/file/${Buffer.from(path).toString('base64url')}/content`;

describe('GET /filecatalogue/file/<file>/content', () => {
  const [a, b, elsewhere] = [
    new PlayedStorage(TEXT),
    new PlayedStorage(TEXT),
    new PlayedStorage(TEXT),
  ];
  let directory: string;
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  let trail: AuditTrail;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-content-'));
    const keys = join(directory, 'keys');
    await writeFile(keys, 'aws_access_key_id = AKID\naws_secret_access_key = verysecret\n');
    const webdav = { kind: 'webdav', vos: ['vo'] } as const;
    await elsewhere.start();
    const storageElements = [
      { name: 'SE-A', url: await a.start(), ...webdav },
      { name: 'SE-B', url: await b.start(), ...webdav, audience: 'storage-b' },
      { name: 'SE-ELSE', url: `${a.origin}/else`, kind: webdav.kind, vos: ['else'] },
      {
        ...{ name: 'SE-S3', url: `${b.origin}/bucket`, kind: 's3' as const, vos: ['vo'] },
        credentialsFile: keys,
      },
    ];
    const other = { name: 'else_user', vo: 'else', properties: new Set(['NormalUser'] as const) };
    const groups = [...DEMO_REGISTRY.groups, { ...other, members: ['carol'], idpScopes: [] }];
    const registry = join(directory, 'r.yaml');
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, groups, storageElements }));
    grid = await startGrid({
      env: {
        ...{ GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true', GRID_STORAGE_TIMEOUT: '2' },
        GRID_CATALOGUE_GLOBAL_READ: 'false',
      },
    });
    trail = new AuditTrail(grid);
    [alice, bob] = [await grid.as('alice'), await grid.as('bob', 'grid_share')];
    const sum = { checksum: '0a1b2c3d', checksumType: 'Adler32' };
    await bulk(
      await grid.as('fred'),
      { kind: 'directory', path: '/vo/in', owner: 'alice', group: 'grid_user', mode: 0o777 },
      { kind: 'directory', path: '/vo/closed', owner: 'alice', group: 'grid_user' },
    );
    await bulk(
      alice,
      { kind: 'directory', path: '/vo/closed', mode: 0o700 },
      ...[
        { path: '/vo/in/f1', replicas: [{ se: 'SE-B' }, { se: 'SE-A' }], ...sum },
        { path: '/vo/in/a b/ü+100%', replicas: [{ se: 'SE-A' }], ...sum },
        { path: '/vo/in/plain', replicas: [{ se: 'SE-A' }] },
        { path: '/vo/in/only', replicas: [{ se: 'SE-A' }], ...sum },
        { path: '/vo/in/empty', size: 0, replicas: [{ se: 'SE-A' }], ...sum },
        { path: '/vo/in/large', size: LARGE, replicas: [{ se: 'SE-A' }], ...sum },
        { path: '/vo/in/s3', replicas: [{ se: 'SE-S3' }], ...sum },
        { path: '/vo/closed/f', replicas: [{ se: 'SE-A' }], ...sum },
        { path: '/vo/in/nowhere', ...sum },
        { path: '/vo/in/open', replicas: [{ se: 'SE-A', pfn: `${a.origin}/vo/in/f1` }] },
        { path: '/vo/in/borrowed', replicas: [{ se: 'SE-A', pfn: `${a.origin}/vo/closed/f` }] },
        { path: '/vo/in/foreign', replicas: [{ se: 'SE-A', pfn: `${a.origin}/else/f` }] },
        { path: '/vo/in/foreign2', replicas: [{ se: 'SE-ELSE', pfn: `${a.origin}/else/f` }] },
        { path: '/vo/in/host', replicas: [{ se: 'SE-A', pfn: `${elsewhere.origin}/vo/in/host` }] },
      ].map((line) => ({ kind: 'file', size: TEXT.length, ...line })),
    );
  });
  afterAll(async () => {
    // Whatever was tried: no secret has left the service but to its storage.
    const log = trail.log.text;
    for (const secret of ['Bearer ', 'eyJ', 'X-Amz-Signature=', 'verysecret', a.origin, b.origin]) {
      expect(log).not.toContain(secret);
    }
    await grid?.remove();
    await Promise.all([a, b, elsewhere].map((storage) => storage.stop()));
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    for (const storage of [a, b, elsewhere]) storage.play();
  });

  const read = (path: string, headers: Record<string, string> = {}, client = alice) =>
    client.get(at(path), { headers });

  it('gives the bytes, which it fetches with a token of its own for this file alone', async () => {
    const answer = await read('/vo/in/f1');
    expect([answer.status, answer.bytes.toString()]).toEqual([200, TEXT]);
    expect(answer.headers).toMatchObject({
      ...{ etag: ETAG, 'accept-ranges': 'bytes', 'content-length': '17' },
      ...{ 'content-type': 'application/octet-stream', 'cache-control': 'private, no-cache' },
      ...{ 'content-disposition': 'attachment; filename="f1"', 'referrer-policy': 'no-referrer' },
    });
    expect(b.asked).toHaveLength(0);
    expect(a.asked.map(({ method, url }) => [method, url])).toEqual([['GET', '/vo/in/f1']]);
    const [{ jti, exp = 0, iat = 0, ...claims } = {}] = a.claims;
    expect(jti).toEqual(expect.any(String));
    expect(exp - iat).toBe(300);
    expect(claims).toEqual({
      ...{ iss: grid.url, sub: 'gridgate-storage', client_id: 'gridgate-storage', aud: a.origin },
      ...{ scope: 'storage.read:/vo/in/f1', group: '', setup: '', nbf: iat - 60 },
      ...{ preferred_username: 'application:gridgate-storage', 'wlcg.ver': '1.0' },
    });
    expect(await trail.lineOf(answer, 'catalogue.content-given')).toEqual({
      ...{ outcome: 'done', user: 'alice', group: 'grid_user', setup: 'Prod' },
      ...{ client: 'certificate', path: '/vo/in/f1', se: 'SE-A' },
    });
  });

  it('opens nothing here by what it sends to a storage', async () => {
    await read('/vo/in/f1');
    const [, token = ''] = String(a.asked[0]?.headers.authorization).split(' ');
    expect((await grid.bearer(token).get('/jobs/summary')).status).toBe(401);
    expect((await read('/vo/in/f1', {}, grid.bearer(token))).status).toBe(401);
  });

  it('gives what lies below names that tokens cannot hold', async () => {
    expect((await read('/vo/in/a b/ü+100%')).bytes.toString()).toBe(TEXT);
    expect([a.asked[0]?.url, a.scopes]).toEqual([
      '/vo/in/a%20b/%C3%BC%2B100%25',
      ['storage.read:/vo/in'],
    ]);
  });

  it.each([
    ['bytes=9-11', 206, 'the', 'bytes 9-11/17'],
    ['bytes=9-', 206, 'the file', 'bytes 9-16/17'],
    ['bytes=-4', 206, 'file', 'bytes 13-16/17'],
    ['bytes=0-', 206, TEXT, 'bytes 0-16/17'],
    ['bytes=10-99', 206, 'he file', 'bytes 10-16/17'],
    ['bytes=0-1,3-4', 200, TEXT, undefined],
    ['lines=1-2', 200, TEXT, undefined],
  ])('answers the range %s', async (range, status, text, content) => {
    const answer = await read('/vo/in/f1', { range });
    expect([answer.status, answer.bytes.toString(), answer.headers['content-range']]).toEqual([
      ...[status, text, content],
    ]);
  });

  it('refuses a range outside of it, without a look', async () => {
    const { status, body, headers } = await read('/vo/in/f1', { range: 'bytes=17-' });
    expect([status, body.code]).toEqual([416, 'request.range-not-satisfiable']);
    expect(headers['content-range']).toBe('bytes */17');
    expect(a.asked).toHaveLength(0);
  });

  it('answers conditions by its tag', async () => {
    const part = { range: 'bytes=0-4' };
    expect((await read('/vo/in/f1', { ...part, 'if-range': ETAG })).status).toBe(206);
    expect((await read('/vo/in/f1', { ...part, 'if-range': '"other"' })).status).toBe(200);
    a.play();
    const known = await read('/vo/in/f1', { 'if-none-match': ETAG });
    expect([known.status, known.bytes.length, a.asked.length]).toEqual([304, 0, 0]);
    await trail.log.ofRequest(known.headers['x-request-id']);
    expect(trail.eventsOf(known)).toEqual([]);
    // Without a checksum nobody knows whether the bytes are still the same.
    const weak = await read('/vo/in/plain');
    expect([weak.headers['etag'], weak.headers['cache-control']]).toEqual(['W/"17"', 'no-store']);
    expect((await read('/vo/in/plain', { ...part, 'if-range': 'W/"17"' })).status).toBe(200);
  });

  it('answers HEAD after a look at the storage', async () => {
    const answer = await alice.head(at('/vo/in/f1'));
    expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
    expect(answer.headers).toMatchObject({ 'content-length': '17', etag: ETAG });
    expect(a.asked.map(({ method }) => method)).toEqual(['HEAD']);
    expect((await alice.head(at('/vo/in/large'))).status).toBe(409);
    a.play((response) => response.writeHead(404).end());
    expect((await alice.head(at('/vo/in/only'))).status).toBe(409);
    const empty = await read('/vo/in/empty');
    expect([empty.status, empty.body.code]).toEqual([409, 'storage.differs']);
    a.play((response) => response.writeHead(200, { 'content-length': 0 }).end());
    expect((await read('/vo/in/empty')).status).toBe(200);
  });

  it.each<[string, PlayedStorage['answer']]>([
    ['401', (response) => response.writeHead(401).end('no')],
    ['403', (response) => response.writeHead(403).end('no')],
    ['404', (response) => response.writeHead(404).end('no')],
    ['500', (response) => response.writeHead(500).end('no')],
    ['another size', (response) => response.end(`${TEXT}!`)],
    ['nothing', (response) => response.destroy()],
    ['silence', () => undefined],
  ])('goes on to the next element where one answers %s', async (_what, answer) => {
    a.play(answer);
    const whole = await read('/vo/in/f1');
    expect([whole.status, whole.bytes.toString(), b.claims[0]?.aud]).toEqual([
      ...[200, TEXT, 'storage-b'],
    ]);
    expect(await trail.lineOf(whole, 'catalogue.content-given')).toMatchObject({ se: 'SE-B' });
    expect((await read('/vo/in/f1', { range: 'bytes=9-11' })).bytes.toString()).toBe('the');
  });

  it.each<[string, number, string, string, PlayedStorage['answer']]>([
    ['401', 503, 'service.unavailable', 'answers 401', (r) => r.writeHead(401).end('no')],
    ['500', 503, 'service.unavailable', 'answers 500', (r) => r.writeHead(500).end('no')],
    ['404', 409, 'storage.differs', 'does not have /vo/in/only', (r) => r.writeHead(404).end()],
    [
      ...(['nothing', 503, 'service.unavailable'] as const),
      'does not answer (UND_ERR_SOCKET)',
      (r) => r.destroy(),
    ],
    [
      ...(['another size', 409, 'storage.differs'] as const),
      'has 18 bytes of /vo/in/only, which has 17 in the catalogue',
      (r) => r.end(`${TEXT}!`),
    ],
  ])('names the element where none is left, after %s', async (_what, status, code, text, play) => {
    a.play(play);
    const answer = await read('/vo/in/only');
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.detail).toBe(`SE-A ${text}`);
    for (const name of ['etag', 'content-disposition', 'accept-ranges', 'content-range']) {
      expect(answer.headers[name]).toBeUndefined();
    }
    expect(answer.bytes.toString()).not.toMatch(/http:|eyJ/);
    await trail.log.ofRequest(answer.headers['x-request-id']);
    const isRefusal = status === 409; // what is away is none
    expect(trail.eventsOf(answer)).toEqual(isRefusal ? ['catalogue.content-given'] : []);
  });

  it('says the size of the whole where a part is asked for of a shorter file', async () => {
    const differs = async (range: string) => (await read('/vo/in/large', { range })).body.detail;
    const text = `SE-A has 17 bytes of /vo/in/large, which has ${LARGE} in the catalogue`;
    expect(await differs('bytes=100-200')).toBe(text);
    const { code } = (await read('/vo/in/large', { range: 'bytes=0-4' })).body;
    expect(code).toBe('storage.differs');
  });

  it('cuts the answer where the bytes end too soon', async () => {
    a.play((response) => {
      response.writeHead(200, { 'content-length': TEXT.length });
      response.write(TEXT.slice(0, 8), () => setTimeout(() => response.destroy(), 50));
    });
    await expect(read('/vo/in/f1')).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    a.play((response) => {
      response.writeHead(200, { 'content-length': TEXT.length }).write(TEXT.slice(0, 8));
    });
    await expect(read('/vo/in/f1')).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    expect(b.asked).toHaveLength(0);
  });

  it('follows a redirect of the storage, and leaves the token behind', async () => {
    const to = (location: string) => (response: ServerResponse) =>
      response.writeHead(307, { location }).end();
    a.play(to(`${elsewhere.origin}/pool/f1`));
    expect((await read('/vo/in/only')).bytes.toString()).toBe(TEXT);
    expect(elsewhere.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    a.play(to('ftp://localhost/f1'));
    expect((await read('/vo/in/only')).body.detail).toBe(
      'SE-A answers with a redirect that is not followed',
    );
  });

  it('is as slow as its reader, and ends with it', async () => {
    let sent = 0;
    let isCut = false;
    a.play((response) => {
      response.writeHead(200, { 'content-length': LARGE });
      response.on('close', () => (isCut = !response.writableFinished));
      const more = (): void => {
        while (sent < LARGE) {
          sent += BLOCK.length;
          if (!response.write(BLOCK)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const agent = new Agent({ connect: { ca: grid.ca } });
    const options = {
      dispatcher: agent,
      headers: { authorization: `Bearer ${alice.token}` },
    };
    const slow = await request(`${grid.url}${at('/vo/in/large')}`, options);
    let before = -1;
    await eventually(() => {
      const isStill = sent === before;
      before = sent;
      return Promise.resolve(isStill);
    }, 'the storage to wait for the reader');
    expect(sent).toBeLessThan(LARGE);
    const hash = createHash('sha1');
    for await (const chunk of slow.body) hash.update(chunk as Buffer);
    const whole = createHash('sha1').update(Buffer.alloc(LARGE, 'x')).digest('hex');
    expect(hash.digest('hex')).toBe(whole);
    expect(isCut).toBe(false);
    sent = 0;
    const gone = await request(`${grid.url}${at('/vo/in/large')}`, options);
    gone.body.on('error', () => undefined);
    gone.body.destroy();
    await eventually(() => Promise.resolve(isCut), 'the end of what nobody reads');
    await agent.destroy();
  });

  it('redirects to a signed address of S3, unless the bytes are to come through the service', async () => {
    const answer = await read('/vo/in/s3');
    expect([answer.status, answer.bytes.length]).toEqual([307, 0]);
    expect(answer.headers).toMatchObject({
      ...{ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    });
    const location = new URL(String(answer.headers['location']));
    expect(location.href).toContain(`${b.origin}/bucket/in/s3?`);
    expect(location.searchParams.get('X-Amz-Expires')).toMatch(/^(299|300)$/);
    expect(b.asked).toHaveLength(0);
    expect(await trail.lineOf(answer, 'catalogue.content-given')).toMatchObject({ se: 'SE-S3' });
    const options = { query: { through: 'true' }, headers: { range: 'bytes=9-11' } };
    const through = await alice.get(at('/vo/in/s3'), options);
    expect([through.status, through.bytes.toString()]).toEqual([206, 'the']);
    expect([b.asked[0]?.headers.range, b.claims]).toEqual(['bytes=9-11', []]);
    expect((await alice.head(at('/vo/in/s3'))).headers['content-length']).toBe('17');
    b.play((response) => response.writeHead(403).end('<Error>'));
    const refused = await alice.get(at('/vo/in/s3'), options);
    expect(refused.body.detail).toBe('SE-S3 answers 403');
    const wrong = await alice.get(at('/vo/in/s3'), { query: { through: 'perhaps' } });
    expect(wrong.status).toBe(400);
  });

  it('opens nothing that the caller may not read', async () => {
    const none = (path: string): string =>
      `No replica of ${path} lies at a storage element with an address, or its PFN is the address of something else that you may not read`;
    const of = async (path: string, client = alice) => {
      const { status, body } = await read(path, {}, client);
      return [status, body.code, body.detail];
    };
    expect((await read('/vo/in/open')).bytes.toString()).toBe(TEXT);
    expect((await read('/vo/in/borrowed')).bytes.toString()).toBe(TEXT);
    expect((await read('/vo/in/open', {}, bob)).bytes.toString()).toBe(TEXT);
    a.play();
    for (const path of ['nowhere', 'foreign', 'foreign2', 'host'].map((name) => `/vo/in/${name}`)) {
      expect(await of(path)).toEqual([409, 'catalogue.no-address', none(path)]);
    }
    expect(await of('/vo/in/borrowed', bob)).toEqual([
      ...[409, 'catalogue.no-address', none('/vo/in/borrowed')],
    ]);
    const missing = (path: string) => [404, 'catalogue.file-not-found', `There is no file ${path}`];
    expect(await of('/vo/closed/f', bob)).toEqual(missing('/vo/closed/f'));
    expect(await of('/vo/in/none')).toEqual(missing('/vo/in/none'));
    const carol = grid.bearer(await grid.token('carol', 'else_user'));
    expect(await of('/vo/in/f1', carol)).toEqual(missing('/vo/in/f1'));
    expect((await read('/vo/in/f1', {}, grid.anonymous)).status).toBe(401);
    const scoped = async (scope: string): Promise<GridClient> => {
      const wish = { scope };
      const { body } = await narrow(grid, alice.token ?? '', wish, 'gridgate-cli');
      return grid.bearer(body.access_token);
    };
    const { status, body } = await read('/vo/in/f1', {}, await scoped('jobs:read'));
    expect([status, body.code]).toEqual([403, 'auth.insufficient-scope']);
    expect([a.asked.length, b.asked.length, elsewhere.asked.length]).toEqual([0, 0, 0]);
    expect((await read('/vo/in/f1', {}, await scoped('catalogue:read'))).status).toBe(200);
  });
});
