import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { bulk } from '../support/catalogue/events.js';
import { CommandUser } from '../support/command.js';
import { STORAGE } from '../support/grid-tokens.js';
import { awaitFinal, sandboxOf, submit } from '../support/jobs.js';
import { describeOn, describeWith } from '../support/missing.js';
import { namespaces, packages, XrootdStorage } from '../support/storage/xrootd-storage.js';
import { eventually, startGrid, support, type Grid } from '../support/testbed.js';

const hasPackages = describeWith(packages);
const withStorage = hasPackages === describe ? describeOn(namespaces) : hasPackages;

withStorage('files at a real XRootD storage', () => {
  let grid: Grid;
  let storage: XrootdStorage;
  let directory: string;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_STORAGE_CA: join(support().pki, 'ca.crt') } });
    directory = await mkdtemp(join(tmpdir(), 'grid-files-'));
    storage = await XrootdStorage.start(grid.url, STORAGE, join(grid.home, 'pki'));
    await mkdir(join(storage.root, 'vo', 'foo'), { recursive: true });
    await grid.sql(
      `update registry_storage_element set url = $1, kind = 'webdav', vos = '{vo}', audience = $2
       where name = 'SE-A'`,
      [`${storage.url}/vo`, STORAGE],
    );
    for (const name of ['a', 'b ü+%'])
      await writeFile(join(storage.root, 'vo/foo', name), `${name[0]} of foo\n`);
    const paths = ['/vo/foo/a', '/vo/foo/b ü+%'];
    await bulk(
      await grid.as('alice'),
      ...paths.map((path) => ({ kind: 'file', path, size: 9, replicas: [{ se: 'SE-A' }] })),
    );
  });
  afterAll(async () => {
    await storage?.remove();
    await grid?.remove();
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });

  it('gives its files through the service, in parts too, where they are as the catalogue says', async () => {
    const alice = await grid.as('alice');
    const at = (path: string): string =>
      `/filecatalogue/file/${Buffer.from(path).toString('base64url')}/content`;
    for (const name of ['a', 'b ü+%']) {
      const path = at(`/vo/foo/${name}`);
      expect((await alice.get(path)).bytes.toString()).toBe(`${name[0]} of foo\n`);
      expect((await alice.head(path)).headers['content-length']).toBe('9');
      const part = await alice.get(path, { headers: { range: 'bytes=-4' } });
      expect([part.status, part.bytes.toString()]).toEqual([206, 'foo\n']);
    }
    await writeFile(join(storage.root, 'vo/foo/a'), 'a of fo\n');
    for (const range of ['', 'bytes=-1', 'bytes=0-1']) {
      const { status, body } = await alice.get(at('/vo/foo/a'), { headers: { range } });
      const text = 'SE-A has 8 bytes of /vo/foo/a, which has 9 in the catalogue';
      expect([status, body.detail]).toEqual([409, text]);
    }
    await rm(join(storage.root, 'vo/foo/a'));
    const gone = await alice.get(at('/vo/foo/a'));
    await writeFile(join(storage.root, 'vo/foo/a'), 'a of foo\n');
    expect([gone.status, gone.body.detail]).toEqual([409, 'SE-A does not have /vo/foo/a']);
  });

  it('gives its files to the jobs that have them as input data', async () => {
    const alice = await grid.as('alice');
    const [jid = 0] = await submit(alice, [
      {
        ...{ Executable: '/bin/sh', Arguments: ['-c', "cat a 'b ü+%'; env; cat *.json"] },
        InputData: ['/vo/foo/a', '/vo/foo/b ü+%'],
      },
    ]);
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    const output = (await sandboxOf(alice, jid))['std.out'] ?? '';
    expect(output.slice(0, 18)).toBe('a of foo\nb of foo\n');
    expect(output).not.toContain('eyJ');
  });

  it('gives its files to the command', async () => {
    const user = new CommandUser(join(directory, 'home'));
    await mkdir(user.home);
    expect((await user.login(grid, 'alice')).code).toBe(0);
    const get = (...words: string[]) => user.run(['catalogue', 'get', ...words]);
    expect(await get('/vo/foo/a')).toEqual({
      ...{ code: 0, stdout: '/vo/foo/a from SE-A is a\n', stderr: '' },
    });
    expect((await get('/vo/foo/b ü+%', '-')).stdout).toBe('b of foo\n');
    const ca = join(directory, 'other.crt');
    await writeFile(ca, rootCertificates[0] ?? '');
    expect((await get('/vo/foo/a', 'x', '--ca', ca)).stderr).toBe(
      'gridgate: /vo/foo/a cannot be fetched\n' +
        'SE-A: its certificate is not trusted: give its CA with --ca\n',
    );
    await writeFile(join(storage.root, 'vo/foo/a'), 'a of fo\n');
    const cut = await get('/vo/foo/a', 'x');
    await writeFile(join(storage.root, 'vo/foo/a'), 'a of foo\n');
    expect([cut.code, cut.stderr]).toEqual([
      3,
      'gridgate: /vo/foo/a cannot be fetched\nSE-A: it has 8 of 9 bytes\n',
    ]);
    expect(existsSync(join(user.home, 'x'))).toBe(false);
  });

  it('takes files of the command, and gives up what was not registered', async () => {
    const user = new CommandUser(join(directory, 'putter'));
    await mkdir(user.home);
    expect((await user.login(grid, 'alice')).code).toBe(0);
    const put = (...words: string[]) => user.run(['catalogue', 'put', ...words]);
    const bytes = randomBytes(3_000_000);
    await writeFile(join(user.home, 'hits'), bytes);
    expect(await put('hits', '/vo/foo/put/deep/')).toEqual({
      ...{ code: 0, stdout: 'hits is /vo/foo/put/deep/hits at SE-A\n', stderr: '' },
    });
    expect(await readFile(join(storage.root, 'vo/foo/put/deep/hits'))).toEqual(bytes);
    expect((await put('hits', '/vo/foo/put/deep/hits')).stderr).toContain('is a file');
    // What the catalogue does not know lies in the way, and is not overwritten.
    await writeFile(join(storage.root, 'vo/foo/way'), 'in the way');
    const way = await put('hits', '/vo/foo/way');
    expect(way).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Something lies at SE-A where /vo/foo/way would be'),
    });
    expect(await readFile(join(storage.root, 'vo/foo/way'), 'utf8')).toBe('in the way');
    // Bytes without a file.
    const alice = await grid.as('alice');
    const json = { paths: ['/vo/foo/put/lost'], right: 'create' };
    const [{ url, headers }] = (await alice.post('/filecatalogue/access', { json })).body;
    const [, token = ''] = headers.Authorization.split('Bearer ');
    const { pathname } = new URL(url);
    const { status } = await storage.call('PUT', pathname, { token, body: 'lost' });
    expect([200, 201]).toContain(status);
    const where = "where path = '/vo/foo/put/lost'";
    await grid.sql(`update catalogue_bytes set due_at = now(), removals = 1 ${where}`);
    await eventually(
      async () => (await grid.sql(`select from catalogue_bytes ${where}`)).length === 0,
      'the removal',
    );
    expect(existsSync(join(storage.root, 'vo/foo/put/lost'))).toBe(false);
  });

  it('takes files of jobs, which go with the file', async () => {
    const alice = await grid.as('alice');
    const [jid = 0] = await submit(alice, [
      {
        ...{ Executable: '/bin/sh', OutputSandbox: ['std.out'], OutputData: ['hits', 'd/*'] },
        Arguments: ['-c', 'mkdir d; head -c 3000000 /dev/zero > hits; : > d/empty; env'],
      },
    ]);
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    const home = `/vo/user/a/alice/${String(jid).padStart(12, '0')}`;
    const at = (name: string): string => join(storage.root, `${home}/${name}`);
    expect(await readFile(at('hits'))).toEqual(Buffer.alloc(3_000_000));
    expect(await readFile(at('d/empty'))).toEqual(Buffer.alloc(0));
    expect((await sandboxOf(alice, jid))['std.out']).not.toContain('eyJ');
    const hits = Buffer.from(`${home}/hits`).toString('base64url');
    expect((await alice.get(`/filecatalogue/file/${hits}/attributes`)).body).toMatchObject({
      ...{ Size: 3_000_000, ChecksumType: 'Adler32' },
    });
    // What the job was let in with has ended long ago.
    await grid.sql(`update catalogue_file set created_at = now() - interval '2 hours'`);
    expect((await alice.delete(`/filecatalogue/file/${hits}`)).status).toBe(200);
    await eventually(() => Promise.resolve(!existsSync(at('hits')) || undefined), 'the removal');
    expect(existsSync(at('d/empty'))).toBe(true);
  });
});
