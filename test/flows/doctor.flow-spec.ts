import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CommandUser, type Ended } from '../support/command.js';
import { databaseUrl, onServer, startGrid, type Grid } from '../support/testbed.js';

interface Finding {
  check: string;
  state: string;
  text: string;
  advice?: string;
}

let grid: Grid;
let home: string;
let user: CommandUser;

beforeAll(async () => {
  grid = await startGrid();
  home = await mkdtemp(join(tmpdir(), 'grid-doctor-'));
  user = new CommandUser(home);
});

afterAll(async () => {
  await grid?.remove();
  await rm(home, { recursive: true, force: true });
});

/** The environment of the server, as its administrator has it. */
function environment(of: Grid, change: Record<string, string> = {}): Record<string, string> {
  const env = { GRID_HOME: of.home, DATABASE_URL: of.database.url, GRID_PUBLIC_URL: of.url };
  return { ...env, ...change };
}

async function findings(
  env: Record<string, string>,
  words: string[] = [],
): Promise<{ ended: Ended; by: Record<string, Finding>; faults: string[] }> {
  const ended = await user.run(['doctor', '--json', ...words], env);
  const { findings: list } = JSON.parse(ended.stdout) as { findings: Finding[] };
  const faults = list.filter(({ state }) => state === 'fault').map(({ check }) => check);
  return { ended, by: Object.fromEntries(list.map((one) => [one.check, one])), faults };
}

const certificate = (): string[] => [
  '--cert',
  join(grid.home, 'pki/alice.crt'),
  '--key',
  join(grid.home, 'pki/alice.key'),
];

/** A start of a server and several commands are in each. */
jest.setTimeout(90_000);

describe('gridgate doctor', () => {
  it('finds everything well beside a server that is well, and says what it saw', async () => {
    const { ended, by, faults } = await findings(environment(grid), certificate());
    expect({ code: ended.code, stderr: ended.stderr, faults }).toEqual({
      code: 0,
      stderr: '',
      faults: [],
    });
    const states = Object.values(by).map(({ check, state }) => `${check}: ${state}`);
    expect(states).toEqual([
      'database: ok',
      'connections: ok',
      'clock: ok',
      'writing: ok',
      'schema: ok',
      'sessions: ok',
      'signing keys: warning',
      'applications: warning',
      'virtual organisations: ok',
      'sandbox store: ok',
      'Slurm: skipped',
      'trusted CAs: ok',
      'listener certificate: ok',
      'disk (GRID_HOME): ok',
      'disk (temporary files): ok',
      'isolation of local jobs: ok',
      'public address: ok',
      'server certificate: ok',
      'clock (public address): ok',
      'issuer: ok',
      'metrics from outside: warning',
      'client certificate: ok',
      'forged certificate: ok',
    ]);
    expect(by['isolation of local jobs']?.text).toMatch(/^level (?:namespaces|accounts): /);
    expect(by['client certificate']?.text).toBe('arrives: {"groups":["grid_user","grid_share"]}');
    expect(by['signing keys']?.advice).toContain('GRID_KEY_ENCRYPTION_KEY');
  });

  it('warns of local sites that declare more GPUs than the machine has', async () => {
    const insert = `insert into registry_site (name, position, backend, options, gpus)
      values ('LOCAL.many', 60, 'local-process', '{}', 64)`;
    await grid.sql(insert);
    try {
      const { by, faults } = await findings(environment(grid));
      expect(by['GPUs of local sites']).toEqual({
        check: 'GPUs of local sites',
        state: 'warning',
        text: expect.stringMatching(
          /^this machine has \d+, and LOCAL\.many declares 64: no job that asks for GPUs starts there$/,
        ),
        advice: 'Let them declare what `nvidia-smi -L` shows',
      });
      expect(faults).toEqual([]);
    } finally {
      await grid.sql(`delete from registry_site where name = 'LOCAL.many'`);
    }
  });

  it('prints lines for people, each fault with what to do, and no secret of the database', async () => {
    const url = 'postgres://gridgate:open-sesame@127.0.0.1:1/grid';
    const ended = await user.run(['doctor'], environment(grid, { DATABASE_URL: url }));
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(
      /^FAULT {4}database +cannot be used: DATABASE_URL: nothing listens there \(127\.0\.0\.1:1\)$/m,
    );
    expect(ended.stdout).toMatch(/^ +→ Check DATABASE_URL/m);
    expect(ended.stderr).toBe('gridgate: 1 fault\n');
    expect(ended.stdout + ended.stderr).not.toContain('open-sesame');
  });

  it('does not touch an empty database', async () => {
    const name = `t_doctor_${process.pid}`;
    await onServer(`create database "${name}"`);
    try {
      const url = databaseUrl(name);
      const { by, ended } = await findings(environment(grid, { DATABASE_URL: url }));
      expect(by['schema']).toMatchObject({ state: 'warning', text: 'the database is empty' });
      expect(by['signing keys']).toMatchObject({ state: 'skipped' });
      expect(ended.code).toBe(0);
      const again = await findings(environment(grid, { DATABASE_URL: url }));
      expect(again.by['schema']?.text).toBe('the database is empty');
    } finally {
      await onServer(`drop database "${name}" with (force)`);
    }
  });

  it('finds another key than the one that the stored keys were encrypted with', async () => {
    const key = Buffer.alloc(32, 1).toString('base64');
    const encrypted = await startGrid({ env: { GRID_KEY_ENCRYPTION_KEY: key } });
    try {
      await encrypted.sql('select 1');
      const right = await findings(environment(encrypted, { GRID_KEY_ENCRYPTION_KEY: key }));
      expect(right.by['signing keys']).toMatchObject({ state: 'ok' });
      const other = Buffer.alloc(32, 2).toString('base64');
      const wrong = await findings(environment(encrypted, { GRID_KEY_ENCRYPTION_KEY: other }));
      expect(wrong.faults).toEqual(['signing keys']);
      expect(wrong.ended.code).toBe(1);
    } finally {
      await encrypted.remove();
    }
  });

  it('finds a store that cannot be written', async () => {
    const file = join(home, 'a-file');
    await writeFile(file, '');
    const env = { GRID_SANDBOX_STORE: join(file, 'below') };
    const { faults, by } = await findings(environment(grid, env));
    expect(faults).toEqual(['sandbox store', 'disk (sandboxes)']);
    expect(by['sandbox store']?.text).toContain('ENOTDIR');
  });

  it('finds accounts of Slurm jobs with which no server starts', async () => {
    const token = { GRID_SLURM_URL: 'http://127.0.0.1:1', GRID_SLURM_TOKEN: 'none' };
    const env = { ...token, GRID_SLURM_ACCOUNTS: 'no-such-account' };
    const { faults, by } = await findings(environment(grid, env));
    expect(faults).toEqual(['accounts of Slurm jobs']);
    expect(by['accounts of Slurm jobs']?.text).toContain('GRID_SLURM_ACCOUNTS=no-such-account');
  });

  it('finds a Slurm that does not answer', async () => {
    const env = {
      GRID_SLURM_URL: 'http://127.0.0.1:1',
      GRID_SLURM_TOKEN: 'none',
      GRID_SLURM_USER: userInfo().uid === 0 ? 'nobody' : userInfo().username,
    };
    const { faults, by } = await findings(environment(grid, env));
    expect(faults).toEqual(['Slurm']);
    expect(by['Slurm']?.text).toBe(
      `does not answer ${env.GRID_SLURM_USER}: slurmrestd does not answer (ECONNREFUSED)`,
    );
  });

  it('finds CAs that cannot be read, with which no server starts', async () => {
    const env = { GRID_TRUSTED_CA: join(home, 'nowhere') };
    const { faults, by } = await findings(environment(grid, env));
    expect(faults).toEqual(['start', 'trusted CAs']);
    expect(by['signing keys']).toMatchObject({ state: 'skipped' });
  });

  it('finds an issuer that is not the address, and a certificate that is not for it', async () => {
    const url = grid.url.replace('localhost', '127.0.0.1');
    const { by } = await findings(environment(grid, { GRID_PUBLIC_URL: url }));
    expect(by['issuer']).toMatchObject({ state: 'fault', text: `${url} calls itself ${grid.url}` });
  });

  it('finds that forged certificates are believed', async () => {
    const trusting = await grid.second({
      GRID_TRUSTED_PROXIES: '127.0.0.1,::1',
      GRID_CLIENT_CERT_HEADER: 'x-ssl-client-cert',
    });
    try {
      const { by, faults } = await findings(environment(trusting), certificate());
      // Certificates come in the header there, and from anybody on this machine.
      expect(faults).toEqual(['client certificate', 'forged certificate']);
      expect(by['forged certificate']?.text).toBe(
        'whoever sends X-SSL-Client-Cert is taken for the user of any certificate',
      );
    } finally {
      await trusting.stop();
      await rm(trusting.home, { recursive: true, force: true });
    }
  });

  it('says that nothing answers at the address, which is no fault of this instance', async () => {
    const url = 'https://localhost:1';
    const { by, ended } = await findings(environment(grid, { GRID_PUBLIC_URL: url }));
    expect(by['public address']).toMatchObject({ state: 'warning' });
    expect(ended.code).toBe(0);
  });

  it.each([
    [
      ['--cert', 'x.crt'],
      'gridgate: --cert and --key belong together\nhint: give both, or none of them\n',
    ],
    [
      ['--cert', '/nowhere/x.crt', '--key', '/nowhere/x.key'],
      'gridgate: --cert /nowhere/x.crt cannot be read (ENOENT)\n',
    ],
    [['--ca', '/nowhere/ca.crt'], 'gridgate: --ca /nowhere/ca.crt cannot be read (ENOENT)\n'],
  ])('refuses %j', async (words, stderr) => {
    const ended = await user.run(['doctor', ...words], environment(grid));
    expect(ended).toEqual({ code: 2, stdout: '', stderr });
  });
});
