import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandUser } from '../support/command.js';
import { STORAGE } from '../support/grid-tokens.js';
import { describeOn, describeWith, pythonWith } from '../support/missing.js';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { freePorts } from '../support/ports.mjs';
import { namespaces, packages, XrootdStorage } from '../support/storage/xrootd-storage.js';
import { eventually, startGrid, support, type Grid } from '../support/testbed.js';

const run = promisify(execFile);
const python = pythonWith('venv, ensurepip');
const need = { met: python !== undefined, name: 'python3-venv' };
const MINUTES = 60_000;
/** The oldest version of Python 3 that the package promises, and the newest that was tried. */
const OTHERS = [9, 13].filter((minor) => interpreter(minor) !== undefined);

/** Prints a change of a watch per line. */
const WATCHER = `
from gridgate import Client
for change in Client().watch(job_group='restart'):
    print(change.kind, change.job and change.job.status, change.position, flush=True)
    if change.job is not None and change.job.is_final:
        break
`;
const LOGIN = `
import sys, gridgate
gridgate.login(sys.argv[1], ca=sys.argv[2], group='grid_user', show=lambda text: print(text, flush=True))
`;
const USE = `from gridgate import Client; grid = Client(); print(len(list(grid.jobs(page=1))) >= 0)`;

interface Said {
  stdout: string;
  stderr: string;
}

/** Runs pytest, which must end well with such a last line; all that it said is shown where it does not. */
async function pytest(
  program: string,
  words: string[],
  { last, ...options }: { cwd: string; env: NodeJS.ProcessEnv; last: RegExp },
): Promise<void> {
  const { stdout, stderr } = await run(program, words, options).catch((error: unknown) => {
    const failed = error as Error & Said;
    throw new Error(`${failed.message}\n${failed.stdout}${failed.stderr}`);
  });
  if (!last.test(stdout.trimEnd().split('\n').at(-1) ?? '')) throw new Error(stdout + stderr);
}

/** The newest Python 3 of this minor version that pyenv has, or that is on the path. */
function interpreter(minor: number): string | undefined {
  const versions = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');
  const names = existsSync(versions) ? readdirSync(versions) : [];
  const found = names.filter((name) => name.startsWith(`3.${minor}.`));
  const programs = [
    ...found.map((name) => join(versions, name, 'bin', 'python3')),
    `python3.${minor}`,
  ];
  return programs.find((program) => spawnSync(program, ['-c', 'import venv']).status === 0);
}

describeWith(need)('the Python package', () => {
  let grid: Grid;
  let folder: string;
  let user: CommandUser;
  /** Where the tests play storage elements. */
  let storagePort: number;

  const inside = (program: string): string => join(folder, 'venv/bin', program);
  const pki = (name: string): string => join(grid.home, 'pki', name);
  const environment = (env: Record<string, string> = {}): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: user.home,
    ...env,
  });

  /** What the tests of the package ask for. */
  const tested = (more: Record<string, string> = {}): NodeJS.ProcessEnv =>
    environment({
      ...{ GRID_TEST_URL: grid.url, GRID_TEST_PKI: pki('') },
      ...{ GRID_TEST_STORAGE_PORT: String(storagePort), ...more },
    });

  /** pip as it is set up on this machine. */
  const pip = (...words: string[]): Promise<unknown> =>
    run(inside('pip'), ['-q', '--disable-pip-version-check', ...words], { env: process.env });

  /** How many tokens the service gave, by its log, of which only the end is kept: before much is asked. */
  const granted = (): number =>
    grid.server
      .log()
      .split('\n')
      .filter((line) => line.includes('"/oauth2/token"') && line.includes('"status":200')).length;

  const start = (...words: string[]): ChildProcess =>
    spawn(inside('python'), ['-c', ...words], { env: environment(), cwd: folder });

  beforeAll(async () => {
    const [port = 0, other = 0] = await freePorts(2);
    storagePort = other;
    folder = await mkdtemp(join(tmpdir(), 'grid-python-'));
    await mkdir(join(folder, 'home'));
    user = new CommandUser(join(folder, 'home'));
    await cp(join(support().root, 'python'), join(folder, 'python'), { recursive: true });
    const env = {
      ...{ GRID_PORT: String(port), GRID_MAX_SANDBOX: String(128 << 20) },
      GRID_STORAGE_CA: join(support().pki, 'ca.crt'),
    };
    const prepared = startGrid({ env });
    await run(python ?? 'python3', ['-m', 'venv', join(folder, 'venv')]);
    await run(
      'npm',
      ['run', '-s', 'python:wheel', '--', '-q', '--wheel-dir', join(folder, 'wheel')],
      {
        cwd: support().root,
        env: { ...process.env, PATH: `${join(folder, 'venv/bin')}:${process.env['PATH']}` },
      },
    );
    grid = await prepared;
    const keys = join(folder, 'keys');
    await writeFile(keys, 'aws_access_key_id = id\naws_secret_access_key = secret\n', {
      mode: 0o600,
    });
    const origin = `http://localhost:${storagePort}`;
    await grid.sql(
      `update registry_storage_element set url = $1 || lower(right(name, 1)) || '/vo', kind = 'webdav', vos = '{vo}'`,
      [`${origin}/`],
    );
    await grid.sql(
      `insert into registry_storage_element (name, position, url, kind, vos, credentials_file)
       values ('SE-S3', 9, $1, 's3', '{vo}', $2)`,
      [`${origin}/bucket`, keys],
    );
  }, 3 * MINUTES);

  afterAll(async () => {
    await grid?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it(
    'is installed from its wheel with httpx alone, and says which extra is missing',
    async () => {
      const [wheel = ''] = await readdir(join(folder, 'wheel'));
      expect(wheel).toMatch(/^gridgate-\d+\.\d+\.\d+-py3-none-any\.whl$/);
      await pip('install', '--no-compile', join(folder, 'wheel', wheel));
      const words = `
from gridgate import Client, GridgateError
grid = Client('https://localhost', token='x')
for work in (lambda: grid.map(abs, [1]), lambda: __import__('gridgate.frame').frame.frame_of([])):
    try:
        work()
    except GridgateError as error:
        print(error)`;
      const { stdout } = await run(inside('python'), ['-c', words], { env: environment() });
      expect(stdout).toBe(
        'map needs cloudpickle: pip install cloudpickle\na frame needs pandas (pip install pandas); `gridgate status -o csv` does not\n',
      );
      const all = `${join(folder, 'wheel', wheel)}[all]`;
      const users = ['pyarrow', 'dask[dataframe]', 'joblib'];
      await pip('install', '--no-compile', all, ...users, 'pytest', 'ruff', 'mypy');
      await pip('wheel', '--wheel-dir', join(folder, 'wheels'), 'dask');
    },
    4 * MINUTES,
  );

  it(
    'signs in by device for the command too, and both renew an ended token once',
    async () => {
      const child = start(LOGIN, grid.url, pki('ca.crt'));
      let told = '';
      child.stdout?.on('data', (text: Buffer) => (told += text.toString()));
      const address = await eventually(
        () => Promise.resolve(/^Open (https:\S+)/.exec(told)?.[1]),
        'the program says where to go',
      );
      const visitor = new PageVisitor(await grid.certificate('alice'));
      const page = await visitor.open(address.slice(grid.url.length));
      await visitor.send(formOf(page.body), { decision: 'allow' });
      expect(await once(child, 'close')).toEqual([0, null]);
      const { access_token: before } = (await user.storedLogin()).token;
      await user.editToken({ expires_at: 1 });
      await eventually(() => Promise.resolve(granted() === 1), 'the login is in the log');
      const use = (): Promise<{ stdout: string }> =>
        run(inside('python'), ['-c', USE], { env: environment() });
      const [one, two, command] = await Promise.all([use(), use(), user.run(['ls', '/vo/a'])]);
      expect([one.stdout, two.stdout]).toEqual(['True\n', 'True\n']);
      expect(command).toEqual({ code: 0, stdout: 'run1/\nrun2/\n', stderr: '' });
      const { token } = await user.storedLogin();
      expect(token.access_token).not.toBe(before);
      await eventually(() => Promise.resolve(granted() > 1), 'the renewal is in the log');
      expect(granted()).toBe(2);
    },
    MINUTES,
  );

  it(
    'shares the logins of profiles with the command, which finds those of either',
    async () => {
      const [ca, cert, key] = ['ca.crt', 'bob.crt', 'bob.key'].map(pki) as [string, string, string];
      const words = ['--server', grid.url, '--ca', ca, '--cert', cert, '--key', key];
      const login = await user.run(['login', '--profile', 'by.command', ...words]);
      expect([login.code, login.stderr]).toEqual([0, '']);
      const programs = `
import sys, gridgate
print(len(list(gridgate.Client(profile='by.command').jobs(page=1))) >= 0)
gridgate.login(sys.argv[1], ca=sys.argv[2], cert=(sys.argv[3], sys.argv[4]), profile='by.python')`;
      const given = ['-c', programs, grid.url, ca, cert, key];
      const { stdout } = await run(inside('python'), given, { env: environment() });
      expect(stdout).toBe('True\n');
      const who = await user.run(['--profile', 'by.python', 'whoami', '--json']);
      expect(JSON.parse(who.stdout)).toMatchObject({ server: grid.url, user: 'bob' });
    },
    MINUTES,
  );

  it(
    'is clean for ruff and mypy --strict',
    async () => {
      const cwd = join(folder, 'python');
      const { stdout: ruff } = await run(inside('ruff'), ['check', '--no-cache', '.'], { cwd });
      expect(ruff).toBe('All checks passed!\n');
      await run(inside('ruff'), ['format', '--no-cache', '--check', '.'], { cwd });
      const { stdout: mypy } = await run(inside('mypy'), ['--strict', 'src'], { cwd });
      expect(mypy).toMatch(/^Success: no issues found in \d+ source files\n$/);
    },
    3 * MINUTES,
  );

  it(
    'passes its tests and those of its page against a real server',
    async () => {
      // the sources are not on the path: what is tested is the wheel
      const others = ['-rs', '--doctest-glob=*.md', '--ignore=tests/test_executor.py'];
      const words = ['-p', 'no:cacheprovider', ...others, 'tests', 'README.md'];
      const cwd = join(folder, 'python');
      await pytest(inside('pytest'), words, { cwd, env: tested(), last: /^\d+ passed in / });
    },
    3 * MINUTES,
  );

  it(
    'makes a thousand calls of concurrent.futures, joblib and dask by its executor',
    async () => {
      const words = ['-p', 'no:cacheprovider', '-rs', 'tests/test_executor.py'];
      const env = tested({ GRID_TEST_WHEELS: join(folder, 'wheels') });
      const cwd = join(folder, 'python');
      await pytest(inside('pytest'), words, { cwd, env, last: /^\d+ passed in / });
    },
    3 * MINUTES,
  );

  const hasStorage = describeWith(packages);
  const withStorage = hasStorage === describe ? describeOn(namespaces) : hasStorage;
  withStorage('with files at a real XRootD', () => {
    let storage: XrootdStorage;
    afterAll(() => storage?.remove());

    it(
      'puts and gets them, and reads parts',
      async () => {
        storage = await XrootdStorage.start(grid.url, STORAGE, pki(''));
        await mkdir(join(storage.root, 'vo/a'), { recursive: true });
        const address = `update registry_storage_element set url = $1, audience = $2 where name = 'SE-A'`;
        const [before] = await grid.sql(
          `select url from registry_storage_element where name = 'SE-A'`,
        );
        await grid.sql(address, [`${storage.url}/vo`, STORAGE]);
        const other = join(folder, 'other.crt');
        await writeFile(other, rootCertificates[0] ?? '');
        const env = tested({ GRID_TEST_XROOTD: storage.root, GRID_TEST_OTHER_CA: other });
        const words = ['-p', 'no:cacheprovider', 'tests/real_storage.py'];
        const cwd = join(folder, 'python');
        await pytest(inside('pytest'), words, { cwd, env, last: /^2 passed in / });
        await grid.sql(address, [before?.url, null]);
      },
      2 * MINUTES,
    );
  });

  const others = { met: OTHERS.length > 0, name: 'another Python, by pyenv' };
  describeWith(others)('on other versions of Python', () => {
    it.each(OTHERS)(
      'passes its tests on 3.%i',
      async (minor) => {
        const [wheel = ''] = await readdir(join(folder, 'wheel'));
        const venv = join(folder, `venv-3.${minor}`);
        await run(interpreter(minor) ?? '', ['-m', 'venv', venv]);
        const words = ['-q', '--disable-pip-version-check', 'install', '--no-compile'];
        const all = `${join(folder, 'wheel', wheel)}[all]`;
        await run(join(venv, 'bin/pip'), [...words, all, 'pytest'], { env: process.env });
        const cwd = join(folder, 'python');
        // Functions are sent to an interpreter of the same version, which jobs do not have here; tables are read by one Python.
        const last = /^\d+ passed, 24 skipped in /;
        await pytest(join(venv, 'bin/pytest'), ['-p', 'no:cacheprovider', 'tests'], {
          ...{ cwd, env: tested(), last },
        });
      },
      4 * MINUTES,
    );
  });

  it(
    'goes on with a watch when the server is killed and comes back',
    async () => {
      const watcher = start(WATCHER);
      let seen = '';
      watcher.stdout?.on('data', (text: Buffer) => (seen += text.toString()));
      await eventually(() => Promise.resolve(seen.includes('current')), 'the list is whole');
      await grid.kill();
      grid = await grid.again();
      const alice = await grid.as('alice');
      const json = { Executable: '/bin/true', JobGroup: 'restart' };
      expect((await alice.post('/jobs', { json })).status).toBe(200);
      expect(await once(watcher, 'close')).toEqual([0, null]);
      const kinds = seen.trim().split('\n');
      expect(kinds.filter((line) => line.startsWith('listed'))).toHaveLength(1);
      expect(kinds.at(-1)).toMatch(/^job Done \d+$/);
    },
    2 * MINUTES,
  );
});
