import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeOn } from '../support/missing.js';
import { support } from '../support/testbed.js';

/** Writes what `describeLocalIsolation` finds, as JSON. */
const PROGRAM = `
  const { readConfig } = await import(process.argv[1] + '/dist/src/config/index.js');
  const { describeLocalIsolation } = await import(process.argv[1] + '/dist/src/worker/index.js');
  console.log(JSON.stringify(await describeLocalIsolation(readConfig(process.env))));`;

const need = {
  met: spawnSync('unshare', ['--user', '--map-root-user', 'true']).status === 0,
  name: 'user namespaces',
};

describeOn(need)('root of a user namespace that has no other account', () => {
  let home: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'grid-isolation-'));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it.each([
    ['auto', ['namespaces by ', 'accounts by setpriv and perl: ']],
    ['namespaces', ['namespaces by ']],
    ['accounts', ['accounts by setpriv and perl: ']],
  ])('is told why %s is refused, and what to do', async (level, trials) => {
    const { stdout } = await promisify(execFile)(
      'unshare',
      [
        ...['--user', '--map-root-user', process.execPath],
        ...['--input-type=module', '--eval', PROGRAM, support().root],
      ],
      { env: { PATH: process.env['PATH'], GRID_HOME: home, GRID_LOCAL_ISOLATION: level } },
    );
    const report = JSON.parse(stdout) as { level: string; reason: string; isWanted: boolean };
    expect(report).toEqual({ level: 'off', reason: expect.any(String), isWanted: true });
    expect(report.reason).toMatch(/^local jobs cannot be isolated here \(/);
    for (const trial of trials) expect(report.reason).toContain(trial);
    expect(report.reason).toContain('EINVAL: invalid argument, chown ');
    expect(report.reason).toContain('To have them: permit user namespaces');
  });
});
