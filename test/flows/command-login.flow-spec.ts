import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { profile, startBrowser } from '../support/browser.js';
import {
  CommandUser,
  type Ended,
  type RunningCommand,
  type StoredLogin,
} from '../support/command.js';
import { describeWith, has } from '../support/missing.js';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const ASKED = /^Open (https:\S+\/oauth2\/device\?user_code=(\S+)) \(code \2\)\n/;

const EXPIRE = `update device_authorization set expires_at = now() - interval '1 s' where user_code = $1`;

let grid: Grid;
let folder: string;

beforeAll(async () => {
  grid = await startGrid();
  folder = await mkdtemp(join(tmpdir(), 'grid-login-'));
});

afterAll(async () => {
  await grid?.remove();
  await rm(folder, { recursive: true, force: true });
});

async function person(): Promise<CommandUser> {
  return new CommandUser(await mkdtemp(join(folder, 'home-')));
}

/** Starts a login in a browser and reads where the person is sent. */
async function begin(
  user: CommandUser,
  words: string[] = [],
): Promise<{ command: RunningCommand; address: string; code: string }> {
  const ca = join(grid.home, 'pki/ca.crt');
  const command = user.start(['login', '--server', `${grid.url}/`, '--ca', ca, ...words]);
  const [, address = '', code = ''] = await eventually(
    () => Promise.resolve(ASKED.exec(command.stdout + command.stderr) ?? undefined),
    'the command says where to go',
  );
  return { command, address, code };
}

/** Decides on the page of an address, as alice. */
async function decide(address: string, decision: 'allow' | 'deny'): Promise<void> {
  const visitor = new PageVisitor(await grid.certificate('alice'));
  const page = await visitor.open(address.slice(grid.url.length));
  await visitor.send(formOf(page.body), { decision });
}

/** A login that ends as `end` makes it end; whoever waits for several lets them poll side by side. */
async function signIn(
  end: (login: { address: string; code: string }) => Promise<unknown>,
  words: string[] = [],
): Promise<{ user: CommandUser; ended: Ended }> {
  const user = await person();
  const { command, ...login } = await begin(user, words);
  await end(login);
  return { user, ended: await command.ended() };
}

/** How often the service was asked for tokens, by its log. */
function tokenRequests(): number {
  return grid.server.log().split('"/oauth2/token"').length - 1;
}

describe('gridgate login through a browser', () => {
  let allowed: CommandUser;
  let logins: Record<'allowed' | 'denied' | 'expired', { user: CommandUser; ended: Ended }>;
  beforeAll(async () => {
    const [yes, denied, expired] = await Promise.all([
      signIn(({ address }) => decide(address, 'allow')),
      signIn(({ address }) => decide(address, 'deny'), ['--json']),
      signIn(({ code }) => grid.sql(EXPIRE, [code.replace('-', '')]), ['--json']),
    ]);
    logins = { allowed: yes, denied, expired };
    allowed = yes.user;
  });

  it('says where to go and who has signed in, and keeps the token for the user only', async () => {
    const { code, stdout, stderr } = logins.allowed.ended;
    expect({ code, stderr, last: stdout.replace(ASKED, '') }).toEqual({
      code: 0,
      stderr: '',
      last: `logged in to ${grid.url} as alice, group grid_user, setup Prod\n`,
    });
    expect((await stat(allowed.loginFile)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['denied', 'it was denied in the browser'],
    ['expired', 'the code has expired'],
  ] as const)('ends with 2 and keeps nothing when it is %s', async (name, reason) => {
    const { user, ended } = logins[name];
    const [, ...rest] = ended.stderr.split('\n');
    expect({ ...ended, stderr: rest }).toEqual({
      code: 2,
      stdout: '',
      stderr: [
        `gridgate: login failed: ${reason}`,
        'hint: run `gridgate login` again, and allow it in time',
        '',
      ],
    });
    await expect(stat(user.loginFile)).rejects.toThrow('ENOENT');
  });

  it('is renewed once by commands that run side by side with an expired token', async () => {
    const before = await allowed.storedLogin();
    await allowed.editToken({ expires_at: 1 });
    const asked = tokenRequests();
    const ended = await Promise.all([
      allowed.run(['status', '--json']),
      allowed.run(['ls', '/vo/a']),
    ]);
    expect(ended).toEqual([
      { code: 0, stdout: expect.stringContaining('"jobs"'), stderr: '' },
      { code: 0, stdout: 'run1/\nrun2/\n', stderr: '' },
    ]);
    await eventually(() => Promise.resolve(tokenRequests() > asked), 'the renewal is in the log');
    expect(tokenRequests()).toBe(asked + 1);
    const after = await allowed.storedLogin();
    expect(after.token.access_token).not.toBe(before.token.access_token);
    expect(after.token.refresh_token).not.toBe(before.token.refresh_token);
    expect((await stat(allowed.loginFile)).mode & 0o777).toBe(0o600);
  });

  it('is renewed when the service refuses the token before its time', async () => {
    await allowed.editToken({ access_token: 'a.b.c' });
    expect(await allowed.run(['ls', '/vo/a'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('says what to do when it cannot be renewed', async () => {
    const { token } = await allowed.storedLogin();
    await allowed.editToken({ expires_at: 1, refresh_token: 'gone' });
    expect(await allowed.run(['status'])).toEqual({
      code: 4,
      stdout: '',
      stderr: expect.stringMatching(
        /^gridgate: the login has ended \(.+\)\nhint: run `gridgate login --server https:.+`\n$/,
      ),
    });
    await allowed.editToken(token);
  });

  it('is revoked by logout, the refresh token too', async () => {
    const { token } = await allowed.storedLogin();
    expect(await allowed.run(['logout'])).toEqual({ code: 0, stdout: 'logged out\n', stderr: '' });
    const old = grid.bearer(token.access_token);
    await eventually(async () => (await old.get('/jobs')).status === 401, 'revoked');
    const form = {
      grant_type: 'refresh_token',
      refresh_token: token.refresh_token ?? '',
      client_id: 'gridgate-cli',
    };
    const renewal = await grid.anonymous.post('/oauth2/token', { form });
    expect([renewal.status, renewal.body.error]).toEqual([400, 'invalid_grant']);
    expect((await allowed.run(['whoami'])).code).toBe(4);
  });

  it('is forgotten by logout even when the service is away, with a warning', async () => {
    const user = await person();
    await user.login(grid);
    const login = await user.storedLogin();
    await writeFile(user.loginFile, JSON.stringify({ ...login, server: 'https://127.0.0.1:1' }));
    expect(await user.run(['logout'])).toEqual({
      code: 0,
      stdout: 'logged out\n',
      stderr:
        'warning: https://127.0.0.1:1 has not revoked the token; it stays valid until it expires\n',
    });
    await expect(stat(user.loginFile)).rejects.toThrow('ENOENT');
  });

  it('takes over the lock of a command that was killed while it renewed', async () => {
    const user = await person();
    await user.login(grid);
    await user.editToken({ expires_at: 1 });
    const pid = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim();
    await writeFile(`${user.loginFile}.lock`, `${pid} ${hostname()}`);
    expect((await user.run(['ls', '/vo'])).code).toBe(0);
    await expect(stat(`${user.loginFile}.lock`)).rejects.toThrow('ENOENT');
  });
});

describeWith({ met: has('chromium'), name: 'Chromium' })('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => browser?.close());

  it('proposes the group that was asked for, and takes the one that was chosen', async () => {
    const user = await person();
    const { command, address, code } = await begin(user, ['--group', 'grid_share', '--json']);
    const context = await profile(browser, grid, { name: 'alice' });
    try {
      const page = await context.newPage();
      await page.goto(address);
      expect(await page.locator('main').innerText()).toContain(code);
      expect(await page.getByRole('radio', { name: 'grid_share' }).isChecked()).toBe(true);
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { name: 'Done' }).waitFor();
    } finally {
      await context.close();
    }
    const ended = await command.ended();
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ user: 'alice', group: 'grid_share' });
  });
});

describe('a lock that cannot be written', () => {
  it('is named, and not left behind', async () => {
    const user = await person();
    expect(await user.login(grid)).toMatchObject({ code: 0, stderr: '' });
    await user.editToken({ expires_at: 1 });
    const lock = `${user.loginFile}.lock`;
    expect(await user.shell(`trap '' XFSZ; ulimit -f 0; $GRIDGATE status`)).toEqual({
      code: 1,
      stdout: '',
      stderr: `gridgate: ${lock} cannot be written (EFBIG): the login cannot be renewed\nhint: make room there\n`,
    });
    await expect(stat(lock)).rejects.toThrow('ENOENT');
  });

  it('nor is a login renewed that has no room, which is good afterwards', async () => {
    const { user } = await signIn(({ address }) => decide(address, 'allow'));
    await user.editToken({ expires_at: 1 });
    const given = (): Promise<unknown> => grid.sql('select count(*)::int as n from refresh_token');
    const before = [await user.storedLogin(), await given()];
    expect(await user.shell(`trap '' XFSZ; ulimit -f 1; $GRIDGATE status`)).toEqual({
      code: 1,
      stdout: '',
      stderr: `gridgate: ${user.loginFile} cannot be written (EFBIG): the login cannot be renewed\nhint: make room there\n`,
    });
    expect([await user.storedLogin(), await given()]).toEqual(before);
    expect(await readdir(dirname(user.loginFile))).toEqual(['login.json']);
    expect(await user.run(['status'])).toMatchObject({ code: 0, stderr: '' });
    expect((await user.storedLogin()).token.refresh_token).not.toBe(
      (before[0] as StoredLogin).token.refresh_token,
    );
    expect((await stat(user.loginFile)).mode & 0o777).toBe(0o600);
  });

  it('nor is the draft of a login', async () => {
    const user = await person();
    expect(await user.login(grid)).toMatchObject({ code: 0, stderr: '' });
    const before = await user.storedLogin();
    const [ca, cert, key] = ['ca.crt', 'alice.crt', 'alice.key'].map((file) =>
      join(grid.home, 'pki', file),
    );
    const login = `login --server ${grid.url} --ca ${ca} --cert ${cert} --key ${key}`;
    expect(await user.shell(`trap '' XFSZ; ulimit -f 0; $GRIDGATE ${login}`)).toEqual({
      code: 1,
      stdout: '',
      stderr: `gridgate: ${user.loginFile} cannot be written (EFBIG): there is no new login\nhint: make room there\n`,
    });
    expect(await user.storedLogin()).toEqual(before);
    expect(await readdir(dirname(user.loginFile))).toEqual(['login.json']);
  });
});

describe('a login file that is damaged', () => {
  it.each([
    ['that is empty', 'login.json', ''],
    ['that was cut', 'login.json', '{"server": "https://localh'],
    ['that holds something else', 'login.json', '[]'],
    ['of a profile', 'profiles/far.json', '{'],
  ])('%s is named, with what to do', async (_what, name, text) => {
    const user = await person();
    const path = join(user.home, '.config/gridgate', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    const option = name === 'login.json' ? '' : ' --profile far';
    const env: Record<string, string> = option === '' ? {} : { GRIDGATE_PROFILE: 'far' };
    const again = `gridgate login --server URL${option}`;
    expect(await user.run(['status'], env)).toEqual({
      code: 4,
      stdout: '',
      stderr: `gridgate: the login in ${path} is damaged\nhint: run \`${again}\`\n`,
    });
  });
});
