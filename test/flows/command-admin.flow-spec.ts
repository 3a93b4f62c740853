import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandUser, type Ended } from '../support/command.js';
import { startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;
let home: string;
let user: CommandUser;

beforeAll(async () => {
  grid = await startGrid();
  home = await mkdtemp(join(tmpdir(), 'grid-command-'));
  user = new CommandUser(home);
  await user.login(grid);
});

afterAll(async () => {
  await grid?.remove();
  await rm(home, { recursive: true, force: true });
});

const gridgate = (...words: string[]): Promise<Ended> => user.run(words);
const admin = (...words: string[]): Promise<Ended> =>
  user.run(words, { GRID_HOME: grid.home, DATABASE_URL: grid.database.url });
const removed = (path: string): Ended => ({
  ...{ code: 0, stdout: `${path} removed\n` },
  stderr:
    'what came through the service is deleted where it lies, an hour after it was registered at the earliest (not where the storage element keeps all); what was only registered stays\n',
});
const done = (stdout: string): Ended => ({ code: 0, stdout, stderr: '' });
const refused = (text: string, hint?: string): Ended => ({
  ...{ code: 2, stdout: '' },
  stderr: `gridgate: ${text}\n${hint === undefined ? '' : `hint: ${hint}\n`}`,
});

describe('gridgate token', () => {
  it('tells what the token is good for, and prints it for other programs only when asked', async () => {
    const { token } = await user.storedLogin();
    const shown = await gridgate('token');
    expect(shown.stdout).toMatch(
      /^alice, group grid_user, setup Prod, at https:.+\nscope: jobs:read .+\nends in \d+h /,
    );
    expect(shown.stdout).not.toContain(token.access_token);
    expect(await gridgate('token', 'print')).toEqual(done(`${token.access_token}\n`));
  });

  it('gives narrower tokens, tells what they are, and revokes them', async () => {
    const made = await gridgate('token', 'exchange', '--scope', 'jobs:read');
    const narrow = made.stdout.trim();
    const asked = grid.bearer(narrow);
    expect((await asked.get('/jobs')).status).toBe(200);
    expect((await asked.get('/filecatalogue/metadata')).status).toBe(403);
    const told = await gridgate('token', 'introspect', narrow, '-o', 'json');
    expect(JSON.parse(told.stdout)).toMatchObject({
      active: true,
      scope: 'jobs:read',
      username: 'alice',
    });
    expect(await gridgate('token', 'revoke', narrow)).toEqual(done('revoked\n'));
    const dead = await gridgate('token', 'introspect', narrow);
    expect([dead.code, dead.stdout]).toEqual([1, 'active: false\n']);
    const own = await gridgate('token', 'introspect', '-o', 'name');
    expect(own).toEqual(done('alice\n'));
    expect((await gridgate('token', 'exchange', '--scope', 'nonsense')).code).toBe(2);
  });
});

describe('gridgate catalogue, for users', () => {
  const path = '/vo/command';

  it('makes, registers, moves and removes', async () => {
    await writeFile(join(home, 'data.txt'), 'Wikipedia');
    expect(await gridgate('catalogue', 'mkdir', path)).toEqual(done(`${path}\n`));
    const put = ['catalogue', 'put', `${path}/f`, '--like', 'data.txt', '--replica', 'SE-A'];
    expect(await gridgate(...put)).toEqual(done(`${path}/f registered\n`));
    // What no number can hold is a text.
    const values = ['note=first', 'big=1e999'];
    expect(await gridgate('catalogue', 'meta', `${path}/f`, ...values)).toMatchObject({ code: 0 });
    expect(await gridgate('catalogue', 'mv', `${path}/f`, `${path}/g`)).toEqual(
      done(`${path}/f is now ${path}/g\n`),
    );
    const { stdout } = await gridgate('catalogue', 'stat', `${path}/g`, '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      Size: 9,
      Checksum: '11e60398',
      ChecksumType: 'Adler32',
    });
    expect(await gridgate('catalogue', 'replicas', `${path}/g`, '-o', 'name')).toEqual(
      done('SE-A\n'),
    );
    expect((await gridgate('catalogue', 'meta', `${path}/g`)).stdout).toMatch(
      /^FIELD +VALUE\nbig +1e999\nnote +first\n$/,
    );
    expect((await gridgate('catalogue', 'replicas', `${path}/g`)).stdout).toMatch(
      /^STORAGE ELEMENT +STATUS +PFN\nSE-A +\S+ +\(by its path\)\n$/,
    );
    expect((await gridgate('catalogue', 'stat', `${path}/f`)).code).toBe(2);
    expect(await gridgate('catalogue', 'mv', `${path}/g`, `${path}/g`)).toEqual(
      refused(`${path}/g and ${path}/g are the same`),
    );
    expect(await gridgate('catalogue', 'rm', `${path}/g`)).toEqual(removed(`${path}/g`));
  });

  it('moves the file of another person only when that may stay its owner, or as one of its own', async () => {
    const [from, to] = [`${path}/bob`, `${path}/moved`];
    const register = ['catalogue', 'register', from, '--size', '3', '--se', 'SE-A'];
    const bobs = ['--owner', 'bob', '--group', 'grid_user', '--mode', '0640'];
    expect(await admin(...register, ...bobs)).toEqual(done('created\n'));
    expect(await gridgate('catalogue', 'mv', from, to)).toEqual(
      refused(
        `${from} belongs to bob (grid_user), and only a catalogue manager may move it so that this stays`,
        '--own makes it yours',
      ),
    );
    expect((await gridgate('catalogue', 'stat', to)).code).toBe(2);
    const own = await gridgate('catalogue', 'mv', '--own', from, to);
    expect(own).toEqual(done(`${from} is now ${to}\n`));
    const { stdout } = await gridgate('catalogue', 'stat', to, '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ Size: 3, Owner: 'alice', Mode: 0o640 });
    expect(await gridgate('catalogue', 'rm', to)).toEqual(removed(to));
  });

  it('sets and shows metadata, and finds by it', async () => {
    const set = await gridgate('catalogue', 'meta', path, 'energy=777', 'particle=mu');
    expect(set.stdout).toMatch(/energy +777\nparticle +mu\n$/);
    expect(await gridgate('catalogue', 'find', '/vo', 'energy=777', '-o', 'name')).toEqual(
      done(`${path}\n`),
    );
    const none = await gridgate('find', '/vo', 'energy=778');
    expect([none.code, none.stderr]).toEqual([
      0,
      'no directory below /vo has energy=778 (metadata that files have of their own is not searched: set it at their directory)\n',
    ]);
    const overlapping = await gridgate('find', '/vo/a', 'particle=e');
    expect(overlapping.stderr).toMatch(
      /^a row counts the rows below it, too: together \d+ files of \d+ bytes\n$/,
    );
    const [, whole = ''] = overlapping.stdout.split('\n');
    const [files = '', bytes = ''] = whole.split(/ +/);
    expect(overlapping.stderr).toContain(` ${files} files of ${bytes} bytes\n`);
    const put = ['catalogue', 'put', `${path}/h`, '--size', '1', '--meta', 'note=x'];
    expect(await gridgate(...put, '--meta', 'run=7')).toEqual({
      ...{ code: 0, stdout: `${path}/h registered\n` },
      stderr:
        '`find` does not search metadata that files have of their own: set it at their directory\n',
    });
    const own = await gridgate('catalogue', 'meta', `${path}/h`, '--json');
    expect(JSON.parse(own.stdout)).toEqual({ note: 'x', run: 7 });
    expect((await gridgate('catalogue', 'rm', `${path}/h`)).code).toBe(0);
    expect((await gridgate('catalogue', 'fields')).stdout).toMatch(/\nenergy +int\n/);
    expect(await gridgate('catalogue', 'rm', '-d', path)).toEqual(done(`${path} removed\n`));
    expect(await gridgate('catalogue', 'put', path)).toEqual(
      refused('the size is missing', 'give --size, or --like with a file here'),
    );
    expect((await gridgate('catalogue', 'field', 'new', 'int')).code).toBe(2);
  });

  it('leaves the words for administrators on the database', async () => {
    const bare = await admin('catalogue', 'verify', '-o', 'json');
    const long = await admin('admin', 'catalogue', 'verify', '-o', 'json');
    expect([bare.code, JSON.parse(bare.stdout)]).toEqual([0, JSON.parse(long.stdout)]);
  });
});

describe('gridgate user and group', () => {
  it('changes one thing at a time, by the rules of the registry', async () => {
    const dn = '/DC=org/DC=grid/CN=dora';
    const add = ['user', 'add', 'dora', '-c', dn, '-g', 'grid_user', '--full-name', 'Dora D'];
    expect(await admin(...add)).toEqual(done('+ users.dora\n~ groups.grid_user: members +dora\n'));
    expect(await admin('user', 'add', 'dora')).toEqual(refused('there is already a user dora'));
    expect(await admin('user', 'add', 'a b')).toEqual(
      refused('users.a b: is no name: 1 to 128 characters without blank, slash or comma'),
    );
    expect(await admin('user', 'add', 'eve', '-g', 'none')).toEqual(
      refused('there is no group none'),
    );
    const shown = JSON.parse((await admin('user', 'show', 'dora', '--json')).stdout) as object;
    expect(shown).toMatchObject({
      name: 'dora',
      groups: ['grid_user'],
      certificates: [{ subject: dn }],
    });
    expect((await admin('user', 'list', '-g', 'grid_user', '-o', 'name')).stdout).toContain(
      'dora\n',
    );
    expect(await admin('user', 'disable', 'dora')).toEqual(done('~ users.dora: disabled\n'));
    expect(await admin('user', 'disable', 'dora')).toEqual(done('no difference\n'));
    expect((await admin('user', 'list')).stdout).toMatch(/\ndora +disabled +grid_user /);
    expect((await admin('user', 'show', 'dora')).stdout).toContain('disabled: true\n');
    expect(await admin('user', 'enable', 'dora')).toEqual(done('~ users.dora: enabled\n'));
    expect(await admin('user', 'enable', 'nobody')).toEqual(refused('there is no user nobody'));
    expect(await admin('user', 'change', 'dora', '--full-name', '', '--email', 'd@x.org')).toEqual(
      done('~ users.dora: fullName Dora D -> (none), email (none) -> d@x.org\n'),
    );
    const account = ['user', 'change', 'dora', '--subject', 'https://idp.example.org'];
    expect(await admin(...account)).toEqual(
      refused(
        '--subject https://idp.example.org is not an issuer, a blank and the subject there',
        'give one such as "https://idp.example.org 7d3f"',
      ),
    );
    expect(await admin('user', 'remove', 'dora')).toEqual(
      done('- users.dora\n~ groups.grid_user: members -dora\n'),
    );
  });

  it('makes an administrator once, and nobody who cannot sign in', async () => {
    const dn = ['-c', '/DC=org/DC=grid/CN=dora'];
    const add = (...words: string[]) => admin('user', 'add', 'dora', '--administrator', ...words);
    const problem =
      'nobody signs in as dora: an administrator needs a certificate or a subject at an identity provider';
    expect(await add()).toEqual(refused(problem));
    expect(await add(...dn)).toEqual(done('+ users.dora\n~ groups.grid_adm: members +dora\n'));
    expect(await add(...dn)).toEqual(done('no difference\n'));
    expect(await add('-c', '/CN=other')).toEqual(
      refused(
        'dora is there already with other certificates: change that first (gridgate user change dora), or leave it out here',
      ),
    );
    expect((await admin('user', 'remove', 'dora')).code).toBe(0);
  });

  it('makes sites, changes and removes them', async () => {
    const add = ['site', 'add', 'BATCH.new', '--backend', 'slurm', '--slots', '2', '--tag', 'el9'];
    expect(await admin(...add, '--option', 'memoryMb=2048')).toEqual(done('+ sites.BATCH.new\n'));
    const change = (...words: string[]) => admin('site', 'change', 'BATCH.new', ...words);
    expect(await change('--slots', '', '--tag', '', '--gpus', '1')).toEqual(
      done('~ sites.BATCH.new: slots 2 -> (none), tags ["el9"] -> (none), gpus (none) -> 1\n'),
    );
    expect(await change('--slots', 'many')).toEqual(
      refused('sites.BATCH.new.slots: must be a whole number from 1 to 1000000'),
    );
    expect(await change('--option', 'x')).toEqual(refused('--option x is not key=value'));
    expect(await admin('site', 'remove', 'BATCH.new')).toEqual(done('- sites.BATCH.new\n'));
    expect(await admin('site', 'remove', 'BATCH.new')).toEqual(
      refused('there is no site BATCH.new'),
    );
  });

  it('makes groups, and removes none that has members unasked', async () => {
    const add = ['group', 'add', 'night', '--vo', 'vo', '-p', 'NormalUser', '-m', 'alice'];
    expect(await admin(...add)).toEqual(done('+ groups.night\n'));
    expect(await admin('group', 'remove', 'night')).toEqual(
      refused('night has 1 member(s)', '--force removes it anyway'),
    );
    expect(await admin('group', 'change', 'night', '--vo', '', '-p', 'JobSharing')).toEqual(
      done('~ groups.night: vo vo -> (none), properties -NormalUser +JobSharing\n'),
    );
    expect(await admin('group', 'add', 'night', 'bob')).toEqual(
      refused(
        'group add makes a new group',
        'take users into one with gridgate group add-member night bob',
      ),
    );
    expect(await admin('group', 'remove-member', 'night', 'bob')).toEqual(
      refused('bob is no member of night'),
    );
    expect(await admin('group', 'show', 'night', '-o', 'name')).toEqual(done('alice\n'));
    expect(await admin('group', 'remove', 'night', '--force')).toEqual(done('- groups.night\n'));
    const wrong = await admin('group', 'add', 'x', '-p', 'Everything');
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('Everything is not one of'),
    ]);
  });
});

describe('gridgate for administrators', () => {
  it('makes nothing where there is no service, but when it is told to', async () => {
    const empty = join(home, 'empty');
    for (const words of [
      ['storage', 'list'],
      ['user', 'list'],
      ['doctor'],
      ['admin', 'catalogue', 'verify'],
    ]) {
      expect(await user.run(words, { GRID_HOME: empty })).toEqual(
        refused(
          `there is no Gridgate in ${empty}: this command works on the database of a service`,
          'set GRID_HOME or DATABASE_URL',
        ),
      );
    }
    await expect(stat(empty)).rejects.toThrow('ENOENT');
    const made = await user.run(['migrate'], { GRID_HOME: empty });
    expect(made).toEqual(done('the database has the schema of this version\n'));
    expect((await user.run(['storage', 'list'], { GRID_HOME: empty })).code).toBe(0);
  });

  it('lists and shows every noun', async () => {
    const names = async (...words: string[]): Promise<string[]> =>
      (await admin(...words, '-o', 'name')).stdout.trimEnd().split('\n');
    const entries = await names('registry', 'list');
    expect(entries).toEqual(
      expect.arrayContaining(['users.alice', 'groups.grid_user', 'setups.Prod']),
    );
    expect((await admin('registry', 'show')).stdout).toBe((await admin('registry', 'dump')).stdout);
    const [kid = ''] = await names('keys', 'list');
    const key = await admin('keys', 'show', kid, '--json');
    expect(JSON.parse(key.stdout)).toMatchObject({ kid, algorithm: expect.any(String) });
    expect(await admin('keys', 'show', 'none')).toEqual(
      refused('there is no key none', '`gridgate keys list` shows all'),
    );
    expect(await names('site', 'list')).toEqual(await names('site', 'show'));
    expect(await admin('shares', 'show', 'none')).toEqual(
      refused('none has no share', '`gridgate shares list` shows all'),
    );
    expect(await admin('user', 'show', 'none')).toEqual(
      refused('there is no user none', '`gridgate user list` shows all'),
    );
  });

  it('adds and removes certificates of a user', async () => {
    const dn = '/DC=org/DC=grid/CN=alice new';
    const certificate = (...words: string[]): Promise<Ended> =>
      admin('user', 'certificate', ...words);
    expect(await certificate('add', 'alice', dn)).toEqual(
      done(`~ users.alice: certificates +${dn}\n`),
    );
    expect(await certificate('remove', 'alice', dn)).toEqual(
      done(`~ users.alice: certificates -${dn}\n`),
    );
    expect(await certificate('remove', 'alice', dn)).toEqual(
      refused(`alice has no certificate ${dn}`),
    );
    expect((await certificate('add', 'none', dn)).code).toBe(2);
  });
});

describe('gridgate audit', () => {
  it('takes no file of the log, and names what it cannot read', async () => {
    const { code, stderr } = await admin('audit', 'log');
    expect([code, stderr]).toEqual([
      2,
      "gridgate: too many arguments for 'audit'. Expected 0 arguments but got 1.\nhint: `gridgate audit --help` shows what there is\n",
    ]);
    expect(await admin('audit', '--since', 'soon')).toEqual(
      refused(
        '--since soon is no day or instant',
        'give one such as 2026-11-23 or 2026-11-23T10:00:00Z',
      ),
    );
  });

  it('searches what servers and commands have done on the database', async () => {
    const names = async (...words: string[]): Promise<string> =>
      (await admin('audit', '-o', 'name', ...words)).stdout.trim();
    const added = await admin('group', 'add', 'audited', '-p', 'NormalUser', '-m', 'alice');
    expect(added.code).toBe(0);
    const account = userInfo().username;
    const last = await admin('audit', '-u', account, '-e', 'registry.*', '-l', '1', '--json');
    expect([last.code, last.stderr]).toEqual([
      0,
      expect.stringMatching(/^(the last 1 lines.+\n)?$/),
    ]);
    expect(JSON.parse(last.stdout)).toEqual({
      records: [
        {
          ...{ time: expect.any(String), event: 'registry.changed', outcome: 'done', account },
          ...{ changes: ['+ groups.audited'], instance: hostname(), id: expect.any(String) },
        },
      ],
    });
    expect(await names('-e', 'token.issued', '-u', 'alice', '-l', '1')).toBe('token.issued');
    expect(await names('--outcome', 'refused', '--where', 'account=none')).toBe('');
    expect(await names('-u', account, '-e', 'audit.*', '--limit', '1')).toBe('audit.read');
    expect(await names('--until', '2026-01-01')).toBe('');
    const two = await admin('audit', '--limit', '2');
    expect(two.stdout.split('\n')[0]).toMatch(/^TIME +EVENT +OUTCOME +WHO +GROUP +ADDRESS +WHAT$/);
    expect(two.stderr).toBe('the last 2 lines; --limit shows more\n');
    expect(await admin('audit', '-e', 'jobs.*')).toEqual(refused('--event jobs.* is no event'));
  });
});
