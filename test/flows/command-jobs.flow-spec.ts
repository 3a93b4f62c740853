import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandUser, type Ended } from '../support/command.js';
import { startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;
let home: string;
let user: CommandUser;
let jid: string;
let failed: string;

beforeAll(async () => {
  grid = await startGrid();
  home = await mkdtemp(join(tmpdir(), 'grid-command-'));
  user = new CommandUser(home);
  await user.login(grid);
  await writeFile(join(home, 'count.sh'), '#!/bin/sh\necho "counted $1"\nexit ${1:-0}\n');
  const submit = async (words: string[]): Promise<string> => {
    const { stdout } = await gridgate(
      ...['submit', '-e', 'count.sh', ...words, '--wait', '--json'],
    );
    return String((JSON.parse(stdout) as { jobs: { jid: number }[] }).jobs[0]?.jid);
  };
  jid = await submit(['-a', '0', '-n', 'good']);
  failed = await submit(['-a', '3', '-n', 'bad']);
});

afterAll(async () => {
  await grid?.remove();
  await rm(home, { recursive: true, force: true });
});

const gridgate = (...words: string[]): Promise<Ended> => user.run(words);
const refused = (text: string, hint?: string): Ended => ({
  ...{ code: 2, stdout: '' },
  stderr: `gridgate: ${text}\n${hint === undefined ? '' : `hint: ${hint}\n`}`,
});

describe('gridgate about jobs', () => {
  it('tells everything about a job', async () => {
    const { code, stdout, stderr } = await gridgate('describe', jid);
    expect([code, stderr]).toEqual([0, '']);
    for (const part of [
      `jid: ${jid}\nstatus: Done\n`,
      '\nMANIFEST\n',
      '  Executable: count.sh\n',
      '\nHISTORY\n  TIME ',
    ]) {
      expect(stdout).toContain(part);
    }
    const asJson = JSON.parse((await gridgate('describe', jid, '--json')).stdout) as object;
    expect(asJson).toMatchObject({ job: { jid: Number(jid) }, manifest: { JobName: 'good' } });
    expect((await gridgate('describe', 'x')).stderr).toContain('x is no job id');
    expect((await gridgate('describe', '99999')).code).toBe(2);
  });

  it('tells the states of a job, in each format', async () => {
    const names = (await gridgate('history', jid, '-o', 'name')).stdout.trimEnd().split('\n');
    expect([names[0], names.at(-1)]).toEqual(['Received', 'Done']);
    expect((await gridgate('history', jid)).stdout).toMatch(/^TIME +STATUS +MINOR STATUS/);
    const { stdout: json } = await gridgate('history', jid, '-o', 'json');
    const { history } = JSON.parse(json) as { history: unknown[] };
    expect(history).toHaveLength(names.length);
    expect((await gridgate('history', jid, '-o', 'yaml')).stdout).toMatch(/^"?history"?:\n/);
    const wrong = await gridgate('history', jid, '-o', 'xml');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Allowed choices')]);
  });

  it('lists jobs, says what it leaves out, and gives ids to other commands', async () => {
    const { code, stdout, stderr } = await gridgate('status', '--limit', '1', '-o', 'name');
    expect({ code, stdout, stderr }).toEqual({
      ...{ code: 0, stdout: `${failed}\n` },
      stderr: '1 of 2 jobs; --limit 2 shows all\n',
    });
    expect((await gridgate('status', '-o', 'wide')).stdout).toMatch(/OWNER +NAME +GROUP/);
    expect((await gridgate('status')).stderr).toBe('');
    expect(await gridgate('status', '--limit', '0')).toEqual(
      refused('--limit 0 is no number from 1 to 10000'),
    );
    expect((await gridgate('status', '-s', 'Nonsense')).code).toBe(2);
  });

  it('lets a job run again, and names those that cannot', async () => {
    const { code, stdout, stderr } = await gridgate('retry', failed, '99999');
    expect([code, stdout]).toEqual([2, `${failed} waits to run again\n`]);
    expect(stderr).toMatch(/^gridgate: 99999: .+\n$/);
    const { history } = JSON.parse((await gridgate('history', failed, '-o', 'json')).stdout) as {
      history: { status: string }[];
    };
    expect(history.map(({ status }) => status)).toContain('Rescheduled');
  });

  it('fetches one file of a sandbox, and never writes over one unasked', async () => {
    expect(await gridgate('cp', `${jid}:std.out`, '-')).toEqual({
      ...{ code: 0, stdout: 'counted 0\n', stderr: '' },
    });
    const file = join(home, 'std.out');
    expect((await gridgate('cp', `${jid}:std.out`)).stdout).toBe(`${file}\n`);
    expect(await readFile(file, 'utf8')).toBe('counted 0\n');
    expect(await gridgate('cp', `${jid}:std.out`)).toEqual(
      refused(`${file} is there already`, '--force replaces it'),
    );
    expect((await gridgate('cp', '--force', `${jid}:in:count.sh`, 'std.out')).code).toBe(0);
    expect(await readFile(file, 'utf8')).toContain('#!/bin/sh');
    const missing = await gridgate('cp', `${jid}:none`, 'none');
    expect(missing.code).toBe(2);
    await expect(stat(join(home, 'none'))).rejects.toThrow('ENOENT');
    expect((await gridgate('cp', 'file', 'other')).stderr).toContain('names no file of a job');
    expect(await gridgate('cp', `${jid}:std.out`, 'no/where')).toEqual(
      refused(`${join(home, 'no/where')} cannot be written (ENOENT)`),
    );
  });

  it('has a login for each profile', async () => {
    const away = await gridgate('--profile', 'other', 'status');
    expect([away.code, away.stderr]).toEqual([
      4,
      'gridgate: not logged in\nhint: run `gridgate login --server URL --profile other`\n',
    ]);
    const pki = (name: string): string => join(grid.home, 'pki', name);
    const proof = ['--cert', pki('bob.crt'), '--key', pki('bob.key'), '--ca', pki('ca.crt')];
    const login = await gridgate('login', '--profile', 'other', '--server', grid.url, ...proof);
    expect([login.code, login.stderr]).toEqual([0, '']);
    const who = async (...words: string[]): Promise<unknown> =>
      (JSON.parse((await gridgate('whoami', '--json', ...words)).stdout) as { user: string }).user;
    expect([await who(), await who('--profile', 'other')]).toEqual(['alice', 'bob']);
    const { mode } = await stat(join(home, '.config/gridgate/profiles/other.json'));
    expect(mode & 0o777).toBe(0o600);
    expect((await gridgate('profile', 'list', '-o', 'name')).stdout).toBe('default\nother\n');
    const { stdout: shown } = await gridgate('profile', 'show', 'other', '--json');
    expect(JSON.parse(shown)).toMatchObject({ profile: 'other', server: grid.url, user: 'bob' });
    expect(shown).not.toContain('token');
    expect((await gridgate('logout', '--profile', 'other')).code).toBe(0);
    expect(await who()).toBe('alice');
    expect(await gridgate('status', '--profile', '../x')).toEqual(
      refused('../x is no name of a profile', 'give up to 64 letters, digits, dots, - and _'),
    );
  });

  it('follows bytes that are no UTF-8 as they are', async () => {
    const args = JSON.stringify(['-c', "printf '\\351\\303'"]);
    await writeFile(join(home, 'bytes.json'), `{"Executable": "/bin/sh", "Arguments": ${args}}`);
    const odd = (await gridgate('submit', 'bytes.json')).stdout.trim();
    const bytes = await user.shell(`"$GRIDGATE" logs -f ${odd} | od -An -tx1`);
    expect(bytes).toEqual({ code: 0, stdout: ' e9 c3\n', stderr: '' });
  });
});
