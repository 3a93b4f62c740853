import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { bulk } from '../support/catalogue/events.js';
import { CommandUser } from '../support/command.js';
import { KeepingStorage } from '../support/storage/keeping-storage.js';
import { startGrid, type Grid } from '../support/testbed.js';

const TEXT = 'bytes of the file\n'.repeat(10_000);

describe('gridgate catalogue put', () => {
  const [a, b] = [new KeepingStorage(), new KeepingStorage()];
  let directory: string;
  let grid: Grid;
  let user: CommandUser;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-put-'));
    const keys = join(directory, 'keys');
    await writeFile(keys, 'aws_access_key_id = id\naws_secret_access_key = secret\n', {
      mode: 0o600,
    });
    const webdav = { kind: 'webdav', vos: ['vo'] } as const;
    const s3 = { kind: 's3', vos: ['vo'], credentialsFile: keys } as const;
    const storageElements = [
      { name: 'SE-A', url: await a.start(), ...webdav },
      { name: 'SE-B', url: await b.start(), ...webdav },
      { name: 'SE-S3', url: 'http://localhost:1/bucket', ...s3 },
    ];
    const registry = join(directory, 'r.yaml');
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, storageElements }));
    grid = await startGrid({ env: { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true' } });
    const lines = [{ kind: 'directory', path: '/vo/in', mode: 0o777 }];
    await bulk(await grid.as('fred'), ...lines);
    user = new CommandUser(join(directory, 'home'));
    await mkdir(user.home);
    expect((await user.login(grid, 'alice')).code).toBe(0);
    await writeFile(join(user.home, 'f'), TEXT);
  });
  afterAll(async () => {
    await grid?.remove();
    await Promise.all([a.stop(), b.stop()]);
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    for (const storage of [a, b]) storage.reset();
  });

  const put = (...words: string[]) => user.run(['catalogue', 'put', ...words]);

  it('uploads a file and registers it, which get fetches', async () => {
    expect(await put('f', '/vo/in/new/')).toEqual({
      ...{ code: 0, stdout: 'f is /vo/in/new/f at SE-A\n', stderr: '' },
    });
    expect(a.kept.get('/vo/in/new/f')?.toString()).toBe(TEXT);
    const sent = a.asked.find(({ method }) => method === 'PUT');
    expect(sent?.headers).toMatchObject({ 'content-length': String(TEXT.length) });
    expect((await put('f', '/vo/in/other', '--se', 'SE-B', '--mode', '640')).code).toBe(0);
    expect(b.kept.get('/vo/in/other')?.toString()).toBe(TEXT);
    const got = await user.run(['catalogue', 'get', '/vo/in/other', '-']);
    expect([got.code, got.stdout]).toEqual([0, TEXT]);
    const sha256 = createHash('sha256').update(TEXT).digest('hex');
    expect(
      await grid.sql(
        'select mode, sha256 from catalogue_file where stored is not null order by mode',
      ),
    ).toEqual([
      { mode: 0o640, sha256 },
      { mode: 0o775, sha256 },
    ]);
  });

  it('sends no token where a storage says that it is elsewhere', async () => {
    b.kept.clear();
    a.play((response, request) => {
      if (request.method !== 'PUT') return response.writeHead(404).end();
      return response.writeHead(307, { location: `${b.origin}/elsewhere` }).end();
    });
    b.play((response, request) => {
      request.resume().on('end', () => response.writeHead(201).end());
    });
    expect((await put('f', '/vo/in/moved')).stderr).toContain('SE-A has nothing of /vo/in/moved');
    expect(b.asked[0]?.headers.authorization).toBeUndefined();
    expect(b.asked[0]?.headers['content-length']).toBe(String(TEXT.length));
  });

  it('finishes what was interrupted before it was registered', async () => {
    a.status = 500;
    expect((await put('f', '/vo/in/interrupted')).stderr).toContain('it failed (500)');
    a.status = 201;
    expect(await put('f', '/vo/in/interrupted')).toMatchObject({
      ...{ code: 0, stdout: 'f is /vo/in/interrupted at SE-A\n' },
    });
    await writeFile(join(user.home, 'half'), TEXT);
    a.keeps = (bytes) => bytes.subarray(1);
    a.status = 500;
    await put('half', '/vo/in/stump');
    a.status = 201;
    expect((await put('half', '/vo/in/stump')).stderr).toContain('something lies there already');
  });

  it.each([
    ['full', 507, 'it is full (507)'],
    ['taken', 412, 'something lies there already (412)'],
    [
      'closed',
      403,
      'something lies there already, or it does not accept tokens of this service (403)',
    ],
    ['broken', 500, 'it failed (500)'],
  ])('says why a storage that is %s does not take it', async (what, status, text) => {
    a.play((response, request) => {
      const answer = request.method === 'PUT' ? status : 404;
      request.resume().on('end', () => response.writeHead(answer).end());
    });
    const { code, stdout, stderr } = await put('f', `/vo/in/${what}`);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain(`gridgate: SE-A does not take /vo/in/${what}: ${text}\n`);
    expect(stderr).toContain(`/vo/in/${what} is free again an hour after 20`);
    await writeFile(join(user.home, 'other'), 'other');
    expect((await put('other', `/vo/in/${what}`)).stderr).toContain('is being uploaded');
  });

  it('says that the storage has cut it off, keeps something else, or is not there', async () => {
    a.play((response, request) =>
      request.method === 'PUT' ? request.destroy() : response.writeHead(404).end(),
    );
    const cut = await put('f', '/vo/in/cut');
    expect([cut.code, cut.stderr]).toEqual([
      3,
      expect.stringMatching(/SE-A does not take .*: it cannot be reached/),
    ]);
    a.reset();
    a.keeps = (bytes) => bytes.subarray(0, 9);
    expect((await put('f', '/vo/in/half')).stderr).toContain('SE-A has 9 bytes, not 180000, of');
    const away = await put('f', '/vo/in/s3', '--se', 'SE-S3');
    expect([away.code, away.stderr]).toEqual([
      3,
      expect.stringContaining('SE-S3 does not answer (ECONNREFUSED)'),
    ]);
    for (const { stderr } of [cut, away]) expect(stderr).not.toContain('http');
  });

  it('refuses what is there, what cannot be read, and what is not for uploads', async () => {
    expect((await put('f', '/vo/in/new/f')).stderr).toContain('/vo/in/new/f is a file');
    expect((await put('f', '/vo/in')).stderr).toContain('/vo/in is a directory');
    expect((await put('none', '/vo/in/x')).stderr).toContain('none');
    expect((await put('f', '/vo/in/x', '--size', '0')).stderr).toContain('follow from the upload');
    expect((await put('/vo/in/x', '--size', '1', '--se', 'SE-A')).stderr).toContain(
      'is for uploads',
    );
    expect((await put('f', '/vo/in/x', '--se', 'SE-X')).stderr).toContain(
      'no storage element SE-X',
    );
    expect((await put('/vo/in/x', '--size', '1')).stdout).toBe('/vo/in/x registered\n');
  });
});
