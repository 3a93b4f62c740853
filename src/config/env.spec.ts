import { describe, expect, it } from '@jest/globals';
import { ConfigurationFault, readConfig, VARIABLES } from './env.js';

function faults(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigurationFault) return error.faults;
    throw error;
  }
  return [];
}

describe('readConfig', () => {
  it('has the defaults of the contract', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      port: 8443,
      host: '127.0.0.1',
      publicUrl: 'https://localhost:8443',
      role: 'all',
      loadDemo: true,
      servePortal: true,
      accessTokenTtl: 21_600,
      refreshTokenTtl: 2_592_000,
      refreshGrace: 30,
      codeTtl: 60,
      deviceCodeTtl: 600,
      maxJobs: 10_000,
      trustedProxies: [],
      clientCertHeader: 'client-cert',
    });
    expect(config.homePath).toMatch(/\/\.grid$/);
  });

  it('lets the public URL follow the port', () => {
    expect(readConfig({ GRID_PORT: '9443' }).publicUrl).toBe('https://localhost:9443');
    const url = 'https://grid.example.org/';
    expect(readConfig({ GRID_PUBLIC_URL: url }).publicUrl).toBe('https://grid.example.org');
  });

  it.each([
    [{}, true],
    [{ DATABASE_URL: 'postgres://h/d' }, false],
    [{ GRID_REGISTRY: 'x.yaml' }, false],
    [{ DATABASE_URL: 'postgres://h/d', GRID_DEMO: 'yes' }, true],
    [{ GRID_DEMO: '0' }, false],
  ])('of %p loads the demo: %p', (environment: Record<string, string>, expected) => {
    expect(readConfig(environment).loadDemo).toBe(expected);
  });

  it.each([
    [{}, true],
    [{ GRID_DEMO: 'false' }, false],
    [{ GRID_PORTAL: 'false' }, false],
    [{ DATABASE_URL: 'postgres://h/d' }, false],
    [{ DATABASE_URL: 'postgres://h/d', GRID_PORTAL: 'true' }, true],
  ])('of %p serves the portal: %p', (environment: Record<string, string>, expected) => {
    expect(readConfig(environment).servePortal).toBe(expected);
  });

  it.each<[Record<string, string>, string[]]>([
    [{ GRID_SLURM_ACCOUNTS: 'owner', GRID_SLURM_JWT_KEY: '/key' }, []],
    [{ GRID_SLURM_ACCOUNTS: 'pool_1', GRID_SLURM_TOKEN: 'x' }, []],
    [
      { GRID_SLURM_ACCOUNTS: 'owner' },
      [
        'GRID_SLURM_ACCOUNTS needs GRID_SLURM_JWT_KEY, or GRID_SLURM_TOKEN of SlurmUser: without a token slurmrestd runs all jobs as its own account',
      ],
    ],
    [
      { GRID_SLURM_ACCOUNTS: '-x y', GRID_SLURM_JWT_KEY: '/key' },
      ['GRID_SLURM_ACCOUNTS is neither owner nor group nor the name of an account'],
    ],
  ])('finds in %p the faults %p', (environment, expected) => {
    const slurm = { GRID_SLURM_URL: 'unix:/run/slurmrestd', ...environment };
    expect(faults(slurm)).toEqual(expected);
  });

  it('asks for the embedded defaults in production', () => {
    const key = Buffer.alloc(32).toString('base64');
    const tls = { GRID_TLS_CERT: 'c', GRID_TLS_KEY: 'k' };
    const production = { NODE_ENV: 'production', ...tls, GRID_KEY_ENCRYPTION_KEY: key };
    expect(readConfig(production)).toMatchObject({
      loadDemo: false,
      useDevelopmentCa: false,
      allowLocalExecutor: false,
    });
  });

  it('demands the key for what is stored in production, and there only', () => {
    const tls = { GRID_TLS_CERT: 'c', GRID_TLS_KEY: 'k' };
    expect(faults({ NODE_ENV: 'production', ...tls })).toEqual([
      expect.stringMatching(/^GRID_KEY_ENCRYPTION_KEY is not set: /),
    ]);
    expect(faults(tls)).toEqual([]);
  });

  it('names variable, value and expectation of every fault', () => {
    expect(faults({ GRID_PORT: '70000', GRID_ROLE: 'boss' })).toEqual([
      'GRID_PORT="70000" is not a whole number from 0 to 65535',
      'GRID_ROLE="boss" is not one of all, api, worker',
    ]);
  });

  it('never prints a secret', () => {
    expect([
      ...faults({ DATABASE_URL: 'mysql://a:geheim@h/d', GRID_DATABASE_DIRECT_URL: 'geheim' }),
      ...faults({ GRID_KEY_ENCRYPTION_KEY: 'kurz' }),
    ]).toEqual([
      'DATABASE_URL=(hidden) is not a postgres:// URL',
      'GRID_DATABASE_DIRECT_URL=(hidden) is not a postgres:// URL',
      'GRID_KEY_ENCRYPTION_KEY=(hidden) is not the base64 of 32 bytes',
    ]);
  });

  it('refuses a direct URL of no database', () => {
    expect(faults({ GRID_DATABASE_DIRECT_URL: 'postgres://h/d' })).toEqual([
      'GRID_DATABASE_DIRECT_URL is given without DATABASE_URL',
    ]);
  });

  it('lets nobody in without a proof but in the demo of this machine', () => {
    const key = 'k'.repeat(32);
    const refused = (environment: Record<string, string>): string[] =>
      faults({ GRID_DEMO_SIGN_IN: key, ...environment }).map((fault) =>
        fault.replace('GRID_DEMO_SIGN_IN lets people in without a proof, and is refused ', ''),
      );
    expect(refused({})).toEqual([]);
    expect(refused({ GRID_HOST: '::1', GRID_PUBLIC_URL: 'https://127.0.0.1:1' })).toEqual([]);
    expect(refused({ GRID_DEMO: 'false' })).toEqual(['without the data of the demo (GRID_DEMO)']);
    expect(refused({ GRID_REGISTRY: 'own.yaml' })).toEqual([
      'beside a registry of your own (GRID_REGISTRY)',
    ]);
    expect(refused({ GRID_HOST: '0.0.0.0' })).toEqual(['beyond loopback (GRID_HOST)']);
    expect(refused({ GRID_PUBLIC_URL: 'https://grid.example.org' })).toEqual([
      'beyond loopback (GRID_PUBLIC_URL)',
    ]);
    expect(refused({ GRID_TLS: 'off' })).toEqual(['behind a load balancer (GRID_TLS=off)']);
    expect(refused({ GRID_DEMO_SIGN_IN: 'short' })).toEqual([
      'with a key of less than 32 characters',
    ]);
    expect(refused({ NODE_ENV: 'production' })).toContain('in production');
  });

  it('has each variable once', () => {
    const names = Object.values(VARIABLES).map((variable) => variable.name);
    expect(new Set(names).size).toBe(names.length);
  });
});
