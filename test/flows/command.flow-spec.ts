import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EncodingError } from '#src/kernel/index.js';
import { CommandUser, type Ended } from '../support/command.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;
let home: string;
let user: CommandUser;

beforeAll(async () => {
  grid = await startGrid();
  home = await mkdtemp(join(tmpdir(), 'grid-command-'));
  user = new CommandUser(home);
});

afterAll(async () => {
  await grid?.remove();
  await rm(home, { recursive: true, force: true });
});

/** What must never reach a terminal; a line feed ends our own lines. */
const UNSAFE = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

const gridgate = (words: string[], env: Record<string, string> = {}): Promise<Ended> =>
  user.run(words, env);

describe('gridgate for users', () => {
  it('says that one is not logged in, and exits with 4', async () => {
    expect(await gridgate(['status'])).toEqual({
      code: 4,
      stdout: '',
      stderr: 'gridgate: not logged in\nhint: run `gridgate login --server URL`\n',
    });
  });

  it('logs in by certificate and keeps the token for the user only', async () => {
    const { code, stdout } = await user.login(grid);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `logged in to ${grid.url} as alice, group grid_user, setup Prod\n`,
    });
    const { mode } = await stat(join(home, '.config/gridgate/login.json'));
    expect(mode & 0o777).toBe(0o600);
    const who = await gridgate(['whoami', '--json']);
    expect(JSON.parse(who.stdout)).toMatchObject({ user: 'alice', group: 'grid_user' });
  });

  it('tells each move of the jobs that are asked for as it happens', async () => {
    const [seen, other] = ['seen.json', 'other.json'];
    for (const file of [seen, other]) {
      const manifest = { Executable: '/bin/true', JobGroup: file };
      await writeFile(join(home, file), JSON.stringify(manifest));
    }
    const watching = user.start(['watch', '--group', seen]);
    try {
      await eventually(() => Promise.resolve(watching.stderr.includes('watching')), 'a watch');
      for (const file of [other, seen]) {
        expect((await gridgate(['submit', file, '--wait'])).code).toBe(0);
      }
      await eventually(() => Promise.resolve(/ {2}Done {2}.*\n$/.test(watching.stdout)), 'the end');
    } finally {
      watching.child.kill('SIGINT');
    }
    const { stdout } = await watching.ended();
    const moves = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  '));
    const [first] = moves;
    expect(first).toEqual([
      ...[expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), expect.stringMatching(/^\d+$/)],
      ...['Received', 'Job accepted', 'ANY'],
    ]);
    expect(new Set(moves.map(([, jid]) => jid)).size).toBe(1);
    const statuses = moves.map(([, , status]) => status);
    expect([statuses.includes('Running'), statuses.at(-1)]).toEqual([true, 'Done']);
  });

  it('submits a manifest with the files beside it, waits, and unpacks the output', async () => {
    await writeFile(join(home, 'count.sh'), '#!/bin/sh\nwc -l < words.txt\n');
    await writeFile(join(home, 'words.txt'), 'one\ntwo\n');
    const manifest = { Executable: 'count.sh', InputSandbox: ['count.sh', 'words.txt'] };
    await writeFile(join(home, 'job.json'), JSON.stringify(manifest));
    const done = await gridgate(['submit', 'job.json', '--wait', '--json']);
    expect(done.code).toBe(0);
    const { jobs } = JSON.parse(done.stdout) as { jobs: { jid: number; status: string }[] };
    expect(jobs.map(({ status }) => status)).toEqual(['Done']);
    const jid = String(jobs[0]?.jid);
    expect((await gridgate(['output', jid])).code).toBe(0);
    expect((await readFile(join(home, jid, 'std.out'), 'utf8')).trim()).toBe('2');
    const { stdout } = await gridgate(['status', jid]);
    expect(stdout).toMatch(new RegExp(`^JID +STATUS[^\\n]*\\n${jid} +Done `));
  });

  it('checks without submitting, and names every fault', async () => {
    const fine = await gridgate(['submit', '--exec', '/bin/true', '--dry-run']);
    expect([fine.code, fine.stdout, fine.stderr]).toEqual([0, 'valid: 1 job(s)\n', '']);
    await writeFile(join(home, 'doubtful.json'), '{"Executable": "/bin/true", "Site": "NO.where"}');
    const doubtful = await gridgate(['submit', 'doubtful.json', '--dry-run']);
    expect([doubtful.code, doubtful.stderr]).toEqual([
      0,
      'warning: NO.where is not a known site; the job does not run there\n' +
        'warning: No site can hold the job now (there is none of those it may run on for its setup and virtual organisation)\n',
    ]);
    await writeFile(join(home, 'bad.json'), '{"BannedSites": "NO.where", "Priority": 99}');
    const bad = await gridgate(['submit', 'bad.json']);
    expect(bad.code).toBe(2);
    expect(bad.stderr).toMatch(/Executable/);
    expect(bad.stderr).toMatch(/Priority/);
    expect(bad.stderr).toMatch(/NO\.where/);
  });

  it('refuses files that are missing or no JSON', async () => {
    expect((await gridgate(['submit', 'absent.json'])).stderr).toContain(
      'absent.json cannot be read',
    );
    await writeFile(join(home, 'broken.json'), '{');
    const broken = await gridgate(['submit', 'broken.json']);
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('is not valid JSON')]);
    const nothing = await gridgate(['submit']);
    expect([nothing.code, nothing.stderr]).toEqual([
      2,
      'gridgate: there is nothing to submit\nhint: give a script, a manifest file, or --exec with the program to run\n',
    ]);
  });

  it('refuses files that are no UTF-8 with the line, and takes a byte order mark', async () => {
    const refused = (name: string, line: number): object => ({
      code: 2,
      stdout: '',
      stderr: `gridgate: ${name}: ${new EncodingError(line).message}\n`,
    });
    const manifest = '{"Executable": "/bin/true",\n "JobName": "René"}';
    await writeFile(join(home, 'latin1.json'), manifest, 'latin1');
    expect(await gridgate(['submit', 'latin1.json'])).toEqual(refused('latin1.json', 2));
    const piped = await user.shell('"$GRIDGATE" submit - < latin1.json');
    expect(piped).toEqual(refused('standard input', 2));
    await writeFile(join(home, 'paths.latin1'), '/vo/a\n\n/vo/é\n', 'latin1');
    expect(await gridgate(['lookup', 'paths.latin1'])).toEqual(refused('paths.latin1', 3));
    expect(await user.shell('"$GRIDGATE" lookup - < paths.latin1')).toEqual(
      refused('standard input', 3),
    );
    await writeFile(join(home, 'marked.json'), `\ufeff${manifest}`);
    expect(await gridgate(['submit', 'marked.json', '--dry-run'])).toMatchObject({ code: 0 });
  });

  it('shows what a job writes, as it comes, and counts jobs in the course of time', async () => {
    const script = 'printf "a\\033[2Jb\\n"; sleep 1; echo last; echo wrong >&2';
    await writeFile(
      join(home, 'log.json'),
      JSON.stringify({ Executable: '/bin/sh', Arguments: ['-c', script] }),
    );
    const jid = (await gridgate(['submit', 'log.json'])).stdout.trim();
    const text = 'a\u001b[2Jb\nlast\n';
    expect(await gridgate(['logs', '-f', jid])).toEqual({ code: 0, stdout: text, stderr: '' });
    expect(await gridgate(['logs', jid])).toEqual({ code: 0, stdout: text, stderr: '' });
    expect((await gridgate(['logs', '--err', jid])).stdout).toBe('wrong\n');
    const shown = await new CommandUser(home).atTerminal(`$GRIDGATE logs ${jid}`);
    expect(shown.stdout).toBe('a?[2Jb\r\nlast\r\n');
    const unknown = await gridgate(['logs', '--file', 'none', jid]);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      `gridgate: Job ${jid} gives back no file of that name: OutputSandbox does not name it\n`,
    ]);
    const { stdout } = await gridgate(['timeline', '--step', '43200', '--group', 'JobName']);
    expect(stdout.split('\n')[0]).toMatch(/^TIME .*DONE/);
    const json = await gridgate(['timeline', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ step: 3600 });
  });

  it('kills, and tells what could not be killed', async () => {
    const submitted = await gridgate(['submit', '-e', '/bin/sleep', '-a', '100']);
    const jid = submitted.stdout.trim();
    expect(await gridgate(['kill', jid])).toMatchObject({ code: 0, stdout: `${jid} killed\n` });
    const unknown = await gridgate(['kill', '999999']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('999999')]);
  });

  it('says why a job waits, holds it back and lets it wait again', async () => {
    await writeFile(join(home, 'far.json'), '{"Executable": "/bin/true", "Tags": ["nowhere"]}');
    const { stdout } = await gridgate(['submit', 'far.json', '--json']);
    const [jid = 0] = (JSON.parse(stdout) as { jids: number[] }).jids;
    const why = async (): Promise<string[]> =>
      (await gridgate(['why', String(jid)])).stdout.split('\n');
    const lines = await why();
    expect(lines[0]).toBe(`${jid} is Waiting, place 1 among the jobs of its owner`);
    expect(lines[1]).toMatch(/^waits for: A site that can run it \(LOCAL\.demo: /);
    expect(lines[2]).toMatch(/^share: grid_user has had \d+ % of what was used lately and is due /);
    expect(lines[3]).toMatch(/^SITE +WHY NOT THERE$/);
    expect(await gridgate(['hold', String(jid)])).toMatchObject({
      code: 0,
      stdout: `${jid} held\n`,
    });
    expect((await why()).slice(0, 2)).toEqual([
      `${jid} is Waiting`,
      'waits for: Its release: it is held by its owner',
    ]);
    const released = await gridgate(['release', String(jid)]);
    expect(released).toMatchObject({ code: 0, stdout: `${jid} released\n` });
    await gridgate(['kill', String(jid)]);
    const late = await gridgate(['hold', String(jid)]);
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('only waiting jobs can')]);
  });

  it('lists and searches the catalogue', async () => {
    expect((await gridgate(['ls', '/vo/a'])).stdout).toBe('run1/\nrun2/\n');
    expect((await gridgate(['ls', '-l', '/vo/a/run1'])).stdout).toMatch(
      /alice +grid_user +10 .* f1/,
    );
    const found = await gridgate(['find', '/vo', 'energy>50', 'particle=e']);
    expect(found.stdout.split('\n').map((line) => line.split(/\s+/).at(-1))).toEqual([
      'DIRECTORY',
      '/vo/a',
      '/vo/a/run1',
      '/vo/a/run2',
      '',
    ]);
    const list = join(home, 'paths');
    await writeFile(list, '/vo/a/run1/f1\r\n\n/vo/nothing\n/vo/a/run1/f1');
    const looked = await gridgate(['lookup', list, '-o', 'name']);
    expect(looked).toMatchObject({
      code: 1,
      stdout: '/vo/a/run1/f1\n/vo/a/run1/f1\n',
      stderr: expect.stringMatching(
        /There is no file \/vo\/nothing\ngridgate: 1 of 3 paths have no answer\n/,
      ),
    });
    expect(await gridgate(['lookup', join(home, 'none')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no such file'),
    });
    const missing = await gridgate(['ls', '/nowhere']);
    expect([missing.code, missing.stdout]).toEqual([2, '']);
    const text = await gridgate(['find', '/vo', 'particle>e']);
    expect(text.stderr).toBe('gridgate: particle is a text\nhint: compare it by = or !=\n');
  });

  it('prints no control character of a job name, not even as JSON', async () => {
    // clears the screen, C1 CSI, right-to-left override, line separator, a line of its own
    const name = 'evil\u001b[2J\u009b31m\u202etxt.\u2028a\n1 Done\u007f';
    await writeFile(
      join(home, 'hostile.json'),
      JSON.stringify({ Executable: '/bin/true', JobName: name }),
    );
    const jid = (await gridgate(['submit', 'hostile.json'])).stdout.trim();
    const shown = 'evil?[2J?31m?txt.?a?1 Done?';
    const runs = [
      ['submit', 'hostile.json', '--wait'],
      ['status'],
      ['status', jid],
      ['status', jid, '--json'],
      ['output', jid],
      ['output', jid, '--json'],
    ];
    for (const words of runs) {
      const { code, stdout, stderr } = await gridgate(words);
      const printed = { words, code, unsafe: UNSAFE.exec(stdout + stderr)?.[0] };
      expect(printed).toEqual({ words, code: 0, unsafe: undefined });
      if (words.includes('--json') || words[0] === 'output') continue;
      expect(stdout).toContain(shown);
    }
    const { stdout } = await gridgate(['status', jid, '--json']);
    expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(name).slice(1, -1));
  });

  it('says what is wrong with words that make no sense, before anything is sent', async () => {
    const words = async (...line: string[]) => {
      const { code, stdout, stderr } = await gridgate(line);
      return { code, stdout, lines: stderr.trimEnd().split('\n') };
    };
    const wrong = (what: string, ...hints: string[]) => ({
      ...{ code: 2, stdout: '' },
      lines: [`gridgate: ${what}`, ...hints.map((hint) => `hint: ${hint}`)],
    });
    expect(await words('kill', 'seven')).toEqual(
      wrong('seven is no job id', 'give a number such as 42'),
    );
    expect(await words('status', '999999')).toEqual(
      wrong('no such job: 999999', '--all looks among the jobs of others, too'),
    );
    expect(await words('output', '999999')).toEqual(wrong('Job 999999 does not exist'));
    expect(await words('find', 'energy')).toEqual(
      wrong('energy is no condition', "give one such as 'energy>100'"),
    );
    const unknown = await gridgate(['find', 'nosuchfield>3']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('nosuchfield')]);
    expect(await words('login', '--server', 'grid')).toEqual(
      wrong('grid is no address', 'give one such as https://grid.example.org'),
    );
    expect(await words('login', '--server', grid.url, '--ca', 'none.crt')).toEqual(
      wrong('no such file: none.crt'),
    );
    expect(await words('completion', 'tcsh')).toEqual(
      wrong('no completion for tcsh', 'give bash, zsh or fish'),
    );
  });

  it('ends with 1 when the work has failed', async () => {
    const failed = await gridgate(['submit', '-e', '/bin/false', '--wait', '--json']);
    expect({ ...failed, stdout: JSON.parse(failed.stdout).jobs[0].status }).toEqual({
      code: 1,
      stdout: 'Failed',
      stderr: expect.stringMatching(
        /^gridgate: not every job is Done\nhint: `gridgate why (\d+)` says why, `gridgate logs -e \1` shows its errors\n$/,
      ),
    });
  });

  it('ends with 3 when nothing answers, or what answers cannot be trusted', async () => {
    const other = new CommandUser(await mkdtemp(join(home, 'other-')));
    const away = await other.run(['login', '--server', 'https://127.0.0.1:1']);
    expect(away).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /^gridgate: https:\/\/127\.0\.0\.1:1 cannot be reached: .+\nhint: is the address right, and the service running\?\n$/,
      ),
    });
    const untrusted = await other.run(['login', '--server', grid.url]);
    expect(untrusted).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /\nhint: name the CA of the server with `gridgate login --ca FILE`\n$/,
      ),
    });
  });

  it('trusts the CA that it was told, whatever bundles the environment names', async () => {
    const bundle = join(home, 'empty.pem');
    await writeFile(bundle, '');
    const env = { REQUESTS_CA_BUNDLE: bundle, CURL_CA_BUNDLE: bundle };
    expect(await gridgate(['ls', '/vo/a'], env)).toMatchObject({ code: 0, stderr: '' });
  });

  it('refuses a certificate of nobody with the reason', async () => {
    const other = new CommandUser(await mkdtemp(join(home, 'other-')));
    const { code, stdout, stderr } = await other.login(grid, 'stranger');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^gridgate: login refused with .+stranger\.crt: .+\n$/);
  });

  it('logs out: the token is revoked and forgotten', async () => {
    const path = join(home, '.config/gridgate/login.json');
    const { token } = JSON.parse(await readFile(path, 'utf8')) as {
      token: { access_token: string };
    };
    expect((await gridgate(['logout'])).stdout).toBe('logged out\n');
    const old = grid.bearer(token.access_token);
    await eventually(async () => (await old.get('/jobs')).status === 401, 'refused');
    expect((await gridgate(['whoami'])).code).toBe(4);
  });
});

describeWith({ met: has('script'), name: 'script (util-linux)' })('progress bars', () => {
  const bar = /[█░]/;
  beforeAll(async () => {
    await user.login(grid);
    const big = await open(join(home, 'big.bin'), 'w');
    await big.truncate(8_000_000);
    await big.close();
  });

  it('are shown at a terminal: sending, waiting, fetching', async () => {
    const manifest = { Executable: '/bin/sleep', Arguments: '1', OutputSandbox: ['big.bin'] };
    await writeFile(join(home, 'big.json'), JSON.stringify(manifest));
    const submit = '$GRIDGATE submit big.json -f big.bin --wait';
    const sent = await user.atTerminal(submit);
    expect(sent.code).toBe(0);
    expect(sent.stdout).toMatch(/sending .*[█░].* of 8\.0 MB/);
    expect(sent.stdout).toMatch(/ended .*[█░].* 0 of 1/);
    const [jid = ''] = /^\d+(?= +\S*Done)/m.exec(sent.stdout) ?? [];
    const fetched = await user.atTerminal(`$GRIDGATE output ${jid}`);
    expect(fetched.code).toBe(0);
    expect(fetched.stdout).toMatch(/fetching .*[█░]/);
    expect((await stat(join(home, jid, 'big.bin'))).size).toBe(8_000_000);
    const watched = await user.atTerminal(`$GRIDGATE status ${jid} --watch`);
    expect(watched.stdout).toMatch(bar);
  });

  it('are on standard error only, and never with --json or without a terminal', async () => {
    const words = 'submit -e /bin/true -f big.bin --wait';
    const quiet = await user.atTerminal(`$GRIDGATE ${words} 2>/dev/null`);
    expect(quiet.stdout).not.toMatch(bar);
    const json = await user.atTerminal(`$GRIDGATE ${words} --json`);
    expect(JSON.parse(json.stdout)).toMatchObject({ jobs: [{ status: 'Done' }] });
    const piped = await gridgate(words.split(' '));
    expect(piped.stdout + piped.stderr).not.toMatch(bar);
    expect(piped.stderr).toMatch(/^(\w+ 1\n)*$/);
  });
});

describe('gridgate for administrators, beside a running server', () => {
  const admin = (words: string[]): Promise<Ended> =>
    gridgate(words, { GRID_HOME: grid.home, DATABASE_URL: grid.database.url });

  it('registers, shows and removes an application', async () => {
    const uri = ['--redirect-uri', 'https://portal.example.org/back'];
    const added = await admin(['client', 'add', '--name', 'P', ...uri, '--confidential', '--json']);
    const { client_id: id, client_secret: secret } = JSON.parse(added.stdout) as Record<
      string,
      string
    >;
    expect(secret).toMatch(/^[\w-]{43}$/);
    const shown = await admin(['client', 'show', String(id), '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ client_id: id, confidential: true });
    expect(shown.stdout).not.toContain(secret);
    expect((await admin(['client', 'remove', String(id)])).code).toBe(0);
    expect((await admin(['client', 'show', String(id)])).code).toBe(2);
  });

  it('dumps a registry that load finds unchanged, and refuses a broken one', async () => {
    const dump = await admin(['registry', 'dump']);
    await writeFile(join(home, 'registry.yaml'), dump.stdout);
    expect((await admin(['registry', 'check', 'registry.yaml'])).stdout).toBe('no difference\n');
    await writeFile(join(home, 'broken.yaml'), 'users: {x: {certifcates: []}}');
    const broken = await admin(['registry', 'load', 'broken.yaml']);
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('certifcates')]);
  });

  it('rotates keys, counts jobs and verifies the catalogue', async () => {
    const keys = await admin(['keys', 'rotate', '--json']);
    expect(JSON.parse(keys.stdout)).toMatchObject({ keys: expect.any(Array) });
    expect((await admin(['jobs', 'summary'])).stdout).toMatch(/^STATUS +JOBS\n/);
    expect((await admin(['catalogue', 'verify'])).code).toBe(0);
  });
});
