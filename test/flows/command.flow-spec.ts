import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, startGrid, support, type Grid } from '../support/testbed.js';

let grid: Grid;
let home: string;

beforeAll(async () => {
  grid = await startGrid();
  home = await mkdtemp(join(tmpdir(), 'grid-command-'));
});

afterAll(async () => {
  await grid?.remove();
  await rm(home, { recursive: true, force: true });
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command as a person with an own home would. */
function gridgate(words: string[], env: Record<string, string> = {}): Promise<Ended> {
  const program = join(support().root, 'bin/gridgate.mjs');
  const environment = { PATH: process.env['PATH'], HOME: home, ...env };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...words],
      { env: environment, cwd: home },
      (error, stdout, stderr) => {
        const code = error ? Number(error.code ?? 1) : 0;
        resolve({ code, stdout, stderr });
      },
    );
  });
}

function login(): Promise<Ended> {
  const pki = (name: string): string => join(grid.home, 'pki', name);
  const server = ['--server', grid.url, '--ca', pki('ca.crt')];
  return gridgate(['login', ...server, '--cert', pki('alice.crt'), '--key', pki('alice.key')]);
}

describe('gridgate for users', () => {
  it('says that one is not logged in, and exits with 4', async () => {
    expect(await gridgate(['status'])).toEqual({
      code: 4,
      stdout: '',
      stderr: 'gridgate: not logged in: run `gridgate login --server URL` first\n',
    });
  });

  it('logs in by certificate and keeps the token for the user only', async () => {
    const { code, stdout } = await login();
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `logged in to ${grid.url} as alice, group grid_user, setup Prod\n`,
    });
    const { mode } = await stat(join(home, '.config/gridgate/login.json'));
    expect(mode & 0o777).toBe(0o600);
    const who = await gridgate(['whoami', '--json']);
    expect(JSON.parse(who.stdout)).toMatchObject({ user: 'alice', group: 'grid_user' });
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
    expect([fine.code, fine.stdout]).toEqual([0, 'valid: 1 job(s)\n']);
    await writeFile(join(home, 'bad.json'), '{"Site": "NO.where", "Priority": 99}');
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
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('give a manifest')]);
  });

  it('kills, and tells what could not be killed', async () => {
    const submitted = await gridgate(['submit', '-e', '/bin/sleep', '-a', '100']);
    const jid = submitted.stdout.trim();
    expect(await gridgate(['kill', jid])).toMatchObject({ code: 0, stdout: `${jid} killed\n` });
    const unknown = await gridgate(['kill', '999999']);
    expect([unknown.code, unknown.stdout]).toEqual([2, expect.stringContaining('999999')]);
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
    const missing = await gridgate(['ls', '/nowhere']);
    expect([missing.code, missing.stdout]).toEqual([2, '']);
    const text = await gridgate(['find', '/vo', 'particle>e']);
    expect(text.stderr).toBe('gridgate: particle is a text: only = and != are possible\n');
  });

  it('logs out: the token is revoked and forgotten', async () => {
    const path = join(home, '.config/gridgate/login.json');
    const { token } = JSON.parse(await readFile(path, 'utf8')) as {
      token: { access_token: string };
    };
    expect((await gridgate(['logout'])).stdout).toBe('logged out\n');
    const old = grid.bearer(token.access_token);
    await eventually(async () => (await old.get('/jobs')).status === 401, 'refused', 1_000);
    expect((await gridgate(['whoami'])).code).toBe(4);
  });

  it('prints completion for a shell, and help for an unknown command', async () => {
    expect((await gridgate(['completion', 'bash'])).stdout).toContain('complete -F _gridgate');
    const unknown = await gridgate(['nonsense']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('unknown command')]);
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
