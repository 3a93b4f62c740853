import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { bulk } from '../support/catalogue/events.js';
import { CommandUser } from '../support/command.js';
import { PlayedStorage } from '../support/storage/played-storage.js';
import { startGrid, type Grid } from '../support/testbed.js';

const TEXT = 'bytes of the file\n'.repeat(1_000);
const ADLER = 'ad9386c1';

describe('gridgate catalogue get', () => {
  const [a, b] = [new PlayedStorage(TEXT), new PlayedStorage(TEXT)];
  let directory: string;
  let grid: Grid;
  let user: CommandUser;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-get-'));
    const webdav = { kind: 'webdav', vos: ['vo'] } as const;
    const storageElements = [
      { name: 'SE-A', url: await a.start(), ...webdav },
      { name: 'SE-B', url: await b.start(), ...webdav },
      { name: 'SE-C' },
    ];
    const registry = join(directory, 'r.yaml');
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, storageElements }));
    grid = await startGrid({ env: { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true' } });
    const file = { kind: 'file', size: TEXT.length, checksum: ADLER, checksumType: 'Adler32' };
    const sha256 = createHash('sha256').update(TEXT).digest('hex');
    await bulk(
      await grid.as('alice'),
      { ...file, path: '/vo/in/f1', replicas: ['SE-C', 'SE-B', 'SE-A'].map((se) => ({ se })) },
      { ...file, path: '/vo/in/b', replicas: [{ se: 'SE-B' }] },
      { ...file, path: '/vo/in/c', replicas: [{ se: 'SE-C' }] },
      {
        ...{ ...file, path: '/vo/in/sum', checksum: sha256.toUpperCase(), checksumType: 'SHA-256' },
        replicas: [{ se: 'SE-A' }],
      },
      { kind: 'file', path: '/vo/in/\u202etxt.exe', size: 0, replicas: [{ se: 'SE-A' }] },
    );
    user = new CommandUser(join(directory, 'home'));
    await mkdir(user.home);
    expect((await user.login(grid, 'alice')).code).toBe(0);
  });
  afterAll(async () => {
    await grid?.remove();
    await Promise.all([a.stop(), b.stop()]);
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    for (const storage of [a, b]) storage.play();
  });

  const get = (...words: string[]) => user.run(['catalogue', 'get', ...words]);
  const at = (name: string): string => join(user.home, name);
  const files = (): string[] => readdirSync(user.home).filter((name) => name !== '.config');

  it('fetches a file by the first element that has it, with a token for it alone', async () => {
    expect(await get('/vo/in/f1')).toEqual({
      ...{ code: 0, stdout: '/vo/in/f1 from SE-A is f1\n', stderr: '' },
    });
    expect(readFileSync(at('f1'), 'utf8')).toBe(TEXT);
    expect([a.scopes, b.scopes]).toEqual([['storage.read:/vo/in/f1'], []]);
    await mkdir(at('data'));
    expect((await get('/vo/in/f1', 'data')).stdout).toContain('is data/f1');
    expect((await get('/vo/in/f1', 'data/other', '--se', 'SE-B')).stdout).toContain('from SE-B');
    expect(readFileSync(at('data/other'), 'utf8')).toBe(TEXT);
    expect(await get('/vo/in/f1', '-')).toEqual({ code: 0, stdout: TEXT, stderr: '' });
    expect((await get('/vo/in/sum', 'data')).code).toBe(0);
  });

  it.each<[string, string, (response: ServerResponse) => void]>([
    ['half', 'it has 9000 of 18000 bytes', (response) => response.end(TEXT.slice(0, 9_000))],
    ['more', 'it has more than 18000 bytes', (response) => response.end(`${TEXT}x`)],
    [
      'other bytes',
      `its adler32 is e36c86a1, in the catalogue ${ADLER}`,
      (response) => response.end(TEXT.replace('bytes', 'bytEs')),
    ],
    ['an error', 'it answers 500', (response) => response.writeHead(500).end('boom')],
    ['nothing', 'it cannot be reached', (response) => response.destroy()],
    [
      'a cut',
      'it cannot be reached',
      (response) => {
        response.writeHead(200, { 'content-length': 18_000 });
        response.write(TEXT.slice(0, 9_000), () => response.destroy());
      },
    ],
  ])('goes on to the next element where one answers %s', async (_what, fault, answer) => {
    await rm(at('f1'), { force: true });
    a.answer = answer;
    expect((await get('/vo/in/f1')).stdout).toBe('/vo/in/f1 from SE-B is f1\n');
    expect(readFileSync(at('f1'), 'utf8')).toBe(TEXT);
    b.answer = answer;
    await writeFile(at('f1'), 'old');
    const { code, stdout, stderr } = await get('/vo/in/f1');
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('gridgate: /vo/in/f1 cannot be fetched\n');
    for (const name of ['SE-A', 'SE-B']) expect(stderr).toContain(`${name}: ${fault}`);
    expect(stderr).not.toContain('http');
    expect(readFileSync(at('f1'), 'utf8')).toBe('old');
    expect(files().filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('refuses what lies at no address, and what is not there', async () => {
    const none = (path: string, place: string): string =>
      `gridgate: No replica of ${path} lies at ${place}, or its PFN is the address of something else that you may not read\n`;
    expect(await get('/vo/in/c')).toEqual({
      ...{ code: 2, stdout: '', stderr: none('/vo/in/c', 'a storage element with an address') },
    });
    expect((await get('/vo/in/none')).stderr).toContain('There is no file /vo/in/none');
    const other = await get('/vo/in/b', '--se', 'SE-A');
    expect([other.code, other.stderr]).toEqual([2, none('/vo/in/b', 'SE-A')]);
    expect((await get('/vo/in/b', 'none/f')).stderr).toContain('none/f cannot be written');
    expect(existsSync(at('b'))).toBe(false);
  });

  it('writes no name that acts on a terminal', async () => {
    a.answer = (response) => response.end();
    expect((await get('/vo/in/\u202etxt.exe')).code).toBe(0);
    expect(files()).toContain('%E2%80%AEtxt.exe');
  });
});
