import { spawnSync } from 'node:child_process';
import { launchScript } from './launch-script.js';

/** Runs a launch script as the machine's sh would. */
function run(
  program: string,
  more: { arguments?: string[]; environment?: Record<string, string>; isInit?: boolean },
) {
  const script = launchScript({
    work: '/',
    program,
    arguments: [],
    environment: {},
    tasks: 10_000,
    isInit: false,
    ...more,
  });
  return spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', env: { PATH: '/bin:/usr/bin' } });
}

describe.each([false, true])('launchScript, as pid 1: %s', (isInit) => {
  it('gives arguments as they are', () => {
    const given = ['', ' a ', "it's", '$HOME `id` $(id)', 'two\nlines', '*', '-n', '\\', 'é'];
    const { stdout } = run('/usr/bin/printf', { arguments: ['%s|', ...given], isInit });
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
    const { stdout } = run('/usr/bin/env', { arguments: ['-0'], environment, isInit });
    const seen = new Set(stdout.split('\0'));
    for (const name of ['A', 'IFS', 'PATH', 'ENV'] as const) {
      expect(seen).toContain(`${name}=${environment[name]}`);
    }
  });

  it('ends with 127 when there is no such program', () => {
    const { status, stderr } = run('/no/such/program', { isInit });
    expect({ status, stderr }).toEqual({
      status: 127,
      stderr: expect.stringContaining('/no/such/program: not found'),
    });
  });

  it('hands on how the program ended, and says nothing of its own', () => {
    const ended = (word: string) =>
      run('/bin/sh', { arguments: ['-c', `echo out; echo err >&2; ${word}`], isInit });
    expect(ended('exit 7')).toMatchObject({ status: 7, stdout: 'out\n', stderr: 'err\n' });
    const killed = ended('kill -9 $$');
    expect(killed.stderr).toBe('err\n');
    expect([killed.status, killed.signal]).toEqual(isInit ? [137, null] : [null, 'SIGKILL']);
  });

  it('gives the program no descriptor of its own', () => {
    const list = ['-c', 'ls /proc/$$/fd; :'];
    const { stdout } = run('/bin/sh', { arguments: list, isInit });
    expect(stdout).toBe(spawnSync('/bin/sh', list, { encoding: 'utf8' }).stdout);
  });

  it('refuses NUL, which no program could be given', () => {
    expect(() => run('/bin/true', { arguments: ['\0'] })).toThrow('NUL in a command');
  });
});
