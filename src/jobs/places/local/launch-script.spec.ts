import { spawnSync } from 'node:child_process';
import { launchScript } from './launch-script.js';

/** Runs a launch script as the machine's sh would. */
function run(
  program: string,
  more: { arguments?: string[]; environment?: Record<string, string> },
) {
  const script = launchScript({
    work: '/',
    program,
    arguments: [],
    environment: {},
    tasks: 10_000,
    ...more,
  });
  return spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', env: { PATH: '/bin:/usr/bin' } });
}

describe('launchScript', () => {
  it('gives arguments as they are', () => {
    const given = ['', ' a ', "it's", '$HOME `id` $(id)', 'two\nlines', '*', '-n', '\\', 'é'];
    const { stdout } = run('/usr/bin/printf', { arguments: ['%s|', ...given] });
    expect(stdout).toBe(given.map((text) => `${text}|`).join(''));
  });

  it('gives variables as they are, also those that shells keep to themselves', () => {
    const environment = {
      A: "b 'c'\n$d",
      IFS: 'x',
      PATH: '/nowhere',
      UID: '7',
      PPID: '8',
      ENV: '/x',
    };
    const { stdout } = run('/usr/bin/env', { arguments: ['-0'], environment });
    const seen = new Set(stdout.split('\0'));
    for (const name of ['A', 'IFS', 'PATH', 'ENV'] as const) {
      expect(seen).toContain(`${name}=${environment[name]}`);
    }
  });

  it('ends with 127 when there is no such program', () => {
    expect(run('/no/such/program', {}).status).toBe(127);
  });

  it('refuses NUL, which no program could be given', () => {
    expect(() => run('/bin/true', { arguments: ['\0'] })).toThrow('NUL in a command');
  });
});
