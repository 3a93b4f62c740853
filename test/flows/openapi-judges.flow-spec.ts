import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeWith, pythonWith } from '../support/missing.js';
import { startGrid, support } from '../support/testbed.js';

const LINTERS = ['@stoplight/spectral-cli@6.16.3', '@redocly/cli@2.77.0'];
const SCHEMATHESIS = 'schemathesis==4.32.5';
/** What is an exception for whom, with the reason. */
const RULES = 'test/support/openapi';
const LONG = 20 * 60_000;

const python = pythonWith('venv, ensurepip');
let folder: string;

/** Runs a program in the project's folder, or another one, and says how it ended and what it said. */
async function judge(
  program: string,
  words: string[],
  { cwd = support().root, env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<[code: number, said: string]> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: LONG };
  try {
    const { stdout } = await promisify(execFile)(program, words, {
      ...options,
      maxBuffer: 2 ** 26,
    });
    return [0, stdout];
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as Error & Record<string, string>;
    return [Number(code), `${stdout}${stderr}`.slice(-8000)];
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'grid-judges-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the OpenAPI document', () => {
  const inside = (program: string): string => join(folder, 'node_modules/.bin', program);

  beforeAll(async () => {
    const words = ['install', '--prefix', folder, '--ignore-scripts', ...LINTERS];
    expect((await judge('npm', words))[0]).toBe(0);
  });

  it('has no fault and no warning by the rules of Spectral', async () => {
    const words = ['lint', 'docs/openapi.json', '-r', `${RULES}/spectral.yaml`];
    const [code, said] = await judge(inside('spectral'), [...words, '--fail-severity', 'hint']);
    expect([code, said.trim()]).toEqual([
      0,
      "No results with a severity of 'hint' or higher found!",
    ]);
  });

  it('has no fault and no warning by the recommended rules of Redocly', async () => {
    const words = ['lint', 'docs/openapi.json', '--config', `${RULES}/redocly.yaml`];
    const [code, said] = await judge(inside('redocly'), [...words, '--format', 'json']);
    const { totals } = JSON.parse(said) as { totals: object };
    expect([code, totals]).toEqual([0, { errors: 0, warnings: 0, ignored: 0 }]);
  });
});

describeWith({ met: python !== undefined, name: 'python3-venv' })('the service', () => {
  it('keeps to its OpenAPI document in all checks of Schemathesis', async () => {
    const grid = await startGrid({ env: { GRID_RATE_TOKEN: '0', GRID_RATE_AUTHORIZE: '0' } });
    try {
      await judge(python ?? 'python3', ['-m', 'venv', join(folder, 'venv')]);
      await judge(join(folder, 'venv/bin/pip'), ['-q', 'install', SCHEMATHESIS]);
      const token = await grid.token('alice', 'grid_user');
      const { root } = support();
      const rules = join(root, RULES);
      const words = [
        ...['--config-file', join(rules, 'schemathesis.toml'), 'run'],
        join(root, 'docs/openapi.json'),
        ...['--url', grid.url, '--tls-verify', join(grid.home, 'pki/ca.crt')],
        ...['-H', `Authorization: Bearer ${token}`, '--max-examples', '10', '--seed', '1'],
        ...['--continue-on-failure', '--request-timeout', '20', '--no-color'],
      ];
      const env = { SCHEMATHESIS_HOOKS: 'schemathesis_hooks', PYTHONPATH: rules };
      // It keeps what it has found in the folder in which it runs.
      const at = { cwd: folder, env };
      const [code, said] = await judge(join(folder, 'venv/bin/schemathesis'), words, at);
      expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    } finally {
      await grid.remove();
    }
  });
});
