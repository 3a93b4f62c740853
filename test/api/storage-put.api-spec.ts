import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { fetch } from 'undici';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { AuditTrail } from '../support/audit-trail.js';
import { bulk } from '../support/catalogue/events.js';
import { routes } from '../support/catalogue/http-catalogue.js';
import { ask } from '../support/grid-tokens.js';
import { adlerOf, KeepingStorage } from '../support/storage/keeping-storage.js';
import {
  eventually,
  startGrid,
  type Answer,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const TEXT = 'bytes of the file';
const SHA256 = createHash('sha256').update(TEXT).digest('hex');
const ROUTE = '/filecatalogue/access';

describe('files that people put', () => {
  const [a, b, s3] = [new KeepingStorage(), new KeepingStorage(), new KeepingStorage()];
  let directory: string;
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-put-'));
    const keys = join(directory, 'keys');
    await writeFile(keys, 'aws_access_key_id = id\naws_secret_access_key = secret\n', {
      mode: 0o600,
    });
    const webdav = { kind: 'webdav', vos: ['vo'] } as const;
    const storageElements = [
      { name: 'SE-A', url: await a.start(), ...webdav },
      { name: 'SE-B', url: await b.start(), ...webdav },
      { name: 'SE-NAME' },
      {
        name: 'SE-S3',
        url: (await s3.start()).replace('/vo', '/b'),
        kind: 's3',
        vos: ['vo'],
        credentialsFile: keys,
      },
      { name: 'SE-ELSE', url: 'https://d.example.org/else', kind: 'webdav', vos: ['else'] },
    ] as const;
    const other = { name: 'else_user', vo: 'else', properties: new Set(['NormalUser'] as const) };
    const groups = [...DEMO_REGISTRY.groups, { ...other, members: ['carol'], idpScopes: [] }];
    const path = join(directory, 'r.yaml');
    await writeFile(path, writeRegistryFile({ ...DEMO_REGISTRY, groups, storageElements }));
    grid = await startGrid({
      env: {
        ...{ GRID_REGISTRY: path, GRID_REGISTRY_SYNC: 'true' },
        ...{ GRID_CATALOGUE_GLOBAL_READ: 'false' },
      },
    });
    alice = await grid.as('alice');
    bob = await grid.as('bob', 'grid_share');
    await bulk(
      await grid.as('fred'),
      { kind: 'directory', path: '/vo/in', mode: 0o777 },
      { kind: 'directory', path: '/vo/shut', mode: 0o755 },
      { kind: 'directory', path: '/vo/shut/dark', mode: 0o700 },
    );
  });
  afterAll(async () => {
    await grid?.remove();
    await Promise.all([a.stop(), b.stop(), s3.stop()]);
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    for (const storage of [a, b, s3]) storage.reset();
  });

  const create = (client: GridClient, paths: unknown, more: object = {}): Promise<Answer> =>
    client.post(ROUTE, { json: { paths, right: 'create', ...more } });
  const put = async ({ body: [file] }: Answer, text = TEXT): Promise<number> => {
    const { url, headers } = file as { url: string; headers: Record<string, string> };
    return (await fetch(url, { method: 'PUT', headers, body: text })).status;
  };
  const finish = (client: GridClient, path: string, more: object = {}): Promise<Answer> =>
    client.put(routes.file(path), {
      json: { Size: TEXT.length, Checksum: adlerOf(Buffer.from(TEXT)), SE: 'SE-A', ...more },
    });
  const told = ({ status, body }: Answer): unknown[] => [status, body.code, body.detail];
  const held = (path: string) =>
    grid.sql(`select state, size, fault from catalogue_bytes where path = '${path}'`);

  it('are written by a token for them alone, and registered with what has arrived', async () => {
    const path = '/vo/in/new/f';
    const trail = new AuditTrail(grid);
    const answer = await create(alice, [path], { seconds: 60, contents: [{ size: TEXT.length }] });
    const url = `${a.origin}${path}`;
    expect([answer.status, answer.headers['cache-control'], answer.body]).toEqual([
      ...[200, 'no-store'],
      [
        {
          ...{
            path,
            se: 'SE-A',
            url,
            size: TEXT.length,
            checksum: {},
            expires: expect.any(String),
          },
          headers: { Authorization: expect.stringMatching(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/) },
        },
      ],
    ]);
    const [{ headers, expires }] = answer.body;
    const { scope, aud, sub } = decodeJwt(headers.Authorization.slice('Bearer '.length));
    expect([scope, aud]).toEqual([`storage.create:${path}`, a.origin]);
    expect(sub).toBe(decodeJwt(alice.token ?? '').sub);
    const [row] = await grid.sql(
      `select state, due_at - '${expires}'::timestamptz = '120 s' as late from catalogue_bytes`,
    );
    expect(row).toEqual({ state: 'arriving', late: true });
    expect(await trail.lineOf(answer, 'catalogue.access-given')).toMatchObject({
      ...{ outcome: 'done', right: 'create', files: 1, paths: [path], ses: ['SE-A'] },
    });
    expect((await alice.get(`${routes.file(path)}/attributes`)).status).toBe(404);
    expect((await alice.get(routes.directory('/vo/in/new'))).body.Files).toEqual({});
    expect(await put(answer)).toBe(201);
    expect((await finish(alice, path, { SHA256, Mode: 0o640 })).status).toBe(201);
    expect(a.scopes.at(-1)).toBe(`storage.read:${path}`);
    const { body } = await alice.get(`${routes.file(path)}/attributes`);
    expect(body).toMatchObject({ Size: TEXT.length, Mode: 0o640, ChecksumType: 'Adler32' });
    expect(await held(path)).toEqual([]);
    expect(
      await grid.sql(
        `select sha256, array_length(stored, 1) as n from catalogue_file where stored is not null`,
      ),
    ).toEqual([{ sha256: SHA256, n: 1 }]);
    const read = await alice.post(ROUTE, { json: { paths: [path], right: 'read' } });
    expect(read.body).toMatchObject([{ se: 'SE-A', url, size: TEXT.length }]);
    expect(told(await create(alice, [path]))).toEqual([
      ...[409, 'catalogue.exists', `${path} is a file`],
    ]);
    // Asked again, for an answer that was lost.
    const again = await finish(alice, path, { SHA256, Mode: 0o640 });
    expect([again.status, again.body]).toEqual([200, { path, created: false }]);
    expect((await finish(alice, path, { Size: 3 })).body.code).toBe('catalogue.exists');
    expect((await finish(alice, path, { SE: 'SE-B' })).body.code).toBe('storage.differs');
    expect((await finish(bob, path)).status).toBe(403);
  });

  it('are registered at the element of the token without being told its name, too', async () => {
    const path = '/vo/in/unnamed';
    await put(await create(alice, [path], { se: 'SE-B' }));
    expect((await finish(alice, path)).body.code).toBe('storage.differs'); // not at SE-A
    expect((await finish(alice, path, { SE: undefined })).status).toBe(201);
    const { body } = await alice.post(ROUTE, { json: { paths: [path], right: 'read' } });
    expect(body).toMatchObject([{ se: 'SE-B' }]);
  });

  it.each<[string, () => void, string]>([
    ['keeps half', () => (a.keeps = (bytes) => bytes.subarray(0, 8)), 'has 8 bytes, not 17, of'],
    [
      'keeps other bytes',
      () => (a.keeps = () => Buffer.from('Bytes of the file')),
      'has bytes with the Adler32 3713061e, not 3933063e, of',
    ],
    [
      'says another checksum',
      () => (a.digestOf = () => '1'),
      'has bytes with the Adler32 00000001, not',
    ],
    [
      'says no checksum of others',
      () =>
        Object.assign(a, { digestOf: undefined, keeps: () => Buffer.from('Bytes of the file') }),
      'has bytes with the Adler32 3713061e, not 3933063e, of',
    ],
    ['keeps nothing', () => (a.keeps = () => Buffer.alloc(0)), 'has 0 bytes, not 17, of'],
  ])('are not registered at a storage that %s', async (what, play, fault) => {
    const path = `/vo/in/${what.replaceAll(' ', '-')}`;
    play();
    expect(await put(await create(alice, [path]))).toBe(201);
    const refused = await finish(alice, path);
    expect([refused.status, refused.body.code]).toEqual([409, 'storage.differs']);
    expect(refused.body.detail).toContain(`SE-A ${fault}`);
    expect((await held(path)).length).toBe(1);
    expect(told(await create(bob, [path]))).toEqual([
      ...[409, 'catalogue.exists', `${path} is being uploaded`],
    ]);
    a.reset();
    a.kept.set(path, Buffer.from(TEXT));
    expect((await finish(alice, path)).status).toBe(201);
  });

  it('are not registered while the storage has nothing, or does not answer', async () => {
    const path = '/vo/in/refused';
    a.play((response, { method }) => void response.writeHead(method === 'PUT' ? 507 : 404).end());
    expect(await put(await create(alice, [path]))).toBe(507);
    a.play((response) => void response.writeHead(404).end());
    expect((await finish(alice, path)).body.detail).toBe(`SE-A has nothing of ${path}`);
    a.isAway = true;
    a.play((response) => void response.destroy());
    const away = await finish(alice, path);
    expect([away.status, away.body.code]).toEqual([503, 'service.unavailable']);
    expect(away.body.detail).toContain('SE-A does not answer');
    const sum = { Checksum: undefined };
    expect((await finish(alice, path, sum)).body.detail).toContain('Checksum: is not an Adler32');
    expect((await finish(alice, path, { ChecksumType: 'MD5' })).status).toBe(400);
    expect((await held(path)).length).toBe(1);
  });

  it('have their path alone, and nobody else finishes them', async () => {
    const path = '/vo/in/mine';
    await put(await create(alice, [path]));
    expect(told(await finish(bob, path, { SE: undefined }))).toEqual([
      ...[409, 'catalogue.exists', `${path} is being uploaded`],
    ]);
    expect((await finish(bob, path)).body.code).toBe('storage.differs');
    expect((await bob.post(routes.directory(path))).body.code).toBe('catalogue.exists');
    expect((await bob.delete(routes.file(path))).status).toBe(404);
    expect((await finish(alice, path)).status).toBe(201);
  });

  it('are let in once, however many want to', async () => {
    for (let round = 0; round < 5; round += 1) {
      const path = `/vo/in/many-${round}`;
      const answers = await Promise.all([
        create(alice, [path]),
        create(bob, [path]),
        finish(bob, path, { SE: undefined }),
        alice.post(routes.directory(path)),
      ]);
      const statuses = answers.map(({ status }) => status).sort();
      expect([[200], [201]]).toContainEqual(statuses.slice(0, 1));
      expect(statuses.slice(1)).toEqual(statuses.slice(1).map(() => 409));
    }
  });

  it('are removed when their time is over, and their path is free when they are gone', async () => {
    const path = '/vo/in/late';
    const trail = new AuditTrail(grid);
    await put(await create(alice, [path]));
    a.isAway = true;
    await grid.sql(
      `update catalogue_bytes set due_at = now(), removals = 1 where path = '${path}'`,
    );
    await eventually(async () => (await held(path))[0]?.fault != null, 'the first attempt');
    expect(await held(path)).toEqual([
      { state: 'removing', size: null, fault: expect.stringContaining('SE-A does not answer') },
    ]);
    expect(told(await create(bob, [path]))).toEqual([
      ...[409, 'catalogue.being-removed', `The bytes of ${path} are being removed`],
    ]);
    expect((await finish(alice, path)).body.code).toBe('storage.differs');
    expect((await finish(alice, path, { SE: undefined })).body.code).toBe(
      'catalogue.being-removed',
    );
    expect(a.kept.has(path)).toBe(true);
    a.isAway = false;
    await eventually(async () => (await held(path)).length === 0, 'the removal');
    expect(a.kept.has(path)).toBe(false);
    expect(a.claims.at(-1)).toMatchObject({
      ...{ scope: `storage.read:${path} storage.modify:${path}`, client_id: 'gridgate-storage' },
    });
    const line = await trail.log.line((one) => one['event'] === 'catalogue.bytes-removed');
    expect(line).toMatchObject({ path, se: 'SE-A' });
    expect(await put(await create(bob, [path]))).toBe(201);
    expect((await finish(bob, path)).status).toBe(201);
  });

  it('go to S3 as what was said of them, and as nothing else', async () => {
    const path = '/vo/in/a b/ü+100%';
    const md5 = createHash('md5').update(TEXT).digest();
    const content = { size: TEXT.length, md5: md5.toString('hex') };
    const { status, body } = await create(alice, [path], { contents: [content] });
    expect(status).toBe(200);
    const [{ presigned, ...file }] = body;
    expect(file).toEqual({
      ...{ path, se: 'SE-S3', url: `${s3.origin}/b/in/a%20b/%C3%BC%2B100%25` },
      ...{ size: TEXT.length, checksum: {}, expires: expect.any(String) },
      headers: { 'Content-MD5': md5.toString('base64'), 'If-None-Match': '*' },
    });
    expect(presigned.startsWith(`${file.url}?`)).toBe(true);
    expect(new URL(presigned).searchParams.get('X-Amz-SignedHeaders')).toBe(
      'content-length;content-md5;host;if-none-match',
    );
    const first = await create(alice, ['/vo/in/any'], { contents: [content], presigned: true });
    expect(first.body).toMatchObject([{ se: 'SE-S3', presigned: expect.any(String) }]);
    const other = ['/vo/in/s3'];
    const atS3 = (contents?: unknown) => create(alice, other, { se: 'SE-S3', contents });
    for (const [contents, fault] of [
      [undefined, 'contents[0]: is missing, which SE-S3 needs before it takes bytes'],
      [[{ size: 1 }], 'contents[0].md5: is missing, which SE-S3 needs before it takes bytes'],
      [
        [{ ...content, size: 6e9 }],
        'contents[0].size: is larger than 5 GiB, the most that SE-S3 takes',
      ],
      [[{ ...content, md5: 'x' }], 'md5: is malformed'],
      [[content, content], 'contents: are not as many as paths'],
      ['x', 'contents: is not a list of at most 1000 objects'],
    ] as const) {
      const refused = await atS3(contents);
      expect([refused.status, refused.body.detail]).toEqual([400, fault]);
    }
    expect(await held('/vo/in/s3')).toEqual([]);
  });

  it.each([
    [
      '/vo/in/a b',
      { se: 'SE-A' },
      409,
      'catalogue.no-address',
      'storage services do not understand',
    ],
    [
      '/else/f',
      {},
      409,
      'catalogue.no-address',
      'No storage element with an address takes /else/f',
    ],
    ['/vo/in/x', { se: 'SE-ELSE' }, 400, 'request.invalid', 'no storage element SE-ELSE with'],
    ['/vo/in/x', { se: 'SE-NAME' }, 400, 'request.invalid', 'no storage element SE-NAME with'],
    [
      '/vo/in/x',
      { se: 'SE-A', presigned: true },
      409,
      'catalogue.no-address',
      'SE-A has no signed address for /vo/in/other',
    ],
    ['in/x', {}, 400, 'request.invalid', 'paths[0]: must begin with /'],
    ['/', {}, 400, 'request.invalid', 'paths[0]: names a directory'],
    ['/vo/in', {}, 409, 'catalogue.exists', '/vo/in is a directory'],
    ['/vo/shut/x', {}, 403, 'catalogue.forbidden', 'You may not write in the directory /vo/shut'],
    // Whether there is something or not.
    [
      '/vo/shut/dark/x',
      {},
      403,
      'catalogue.forbidden',
      'You may not write in the directory /vo/shut',
    ],
    [
      '/vo/shut/dark/y/z',
      {},
      403,
      'catalogue.forbidden',
      'You may not write in the directory /vo/shut',
    ],
  ])('are refused at %s %j', async (path, more, status, code, detail) => {
    const refused = await create(alice, ['/vo/in/other', path], more);
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect(refused.body.detail).toContain(detail.replace('paths[0]', 'paths[1]'));
    expect(await held('/vo/in/other')).toEqual([]);
  });

  it('are refused without the right', async () => {
    const scoped = async (scope: string): Promise<GridClient> =>
      grid.bearer((await ask(grid, 'alice', { scope })).body.access_token as string);
    const reader = await scoped('catalogue:read');
    expect(told(await create(reader, ['/vo/in/x']))).toEqual([
      ...[403, 'auth.insufficient-scope', 'This needs the scope catalogue:write'],
    ]);
    const narrow = await scoped('storage.create:/vo/in/narrow');
    expect((await create(narrow, ['/vo/in/narrow'])).status).toBe(200);
    expect((await create(narrow, ['/vo/in/x'])).body.code).toBe('auth.insufficient-scope');
    expect(
      (await narrow.post(ROUTE, { json: { paths: ['/vo/in/x'], right: 'read' } })).status,
    ).toBe(403);
  });

  it('are a thousand of one request', async () => {
    const paths = Array.from({ length: 1_000 }, (_, index) => `/vo/in/crowd/${index}`);
    expect((await create(bob, paths)).status).toBe(200);
    expect(a.asked.filter(({ method }) => method === 'HEAD')).toHaveLength(1_000);
  });
});
