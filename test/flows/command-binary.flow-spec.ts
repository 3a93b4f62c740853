import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Ended } from '../support/command.js';
import { describeWith } from '../support/missing.js';
import { startGrid, support, type Grid } from '../support/testbed.js';

const MINUTES = 60_000;
const isHere = process.platform === 'linux' && process.arch === 'x64';

describeWith({ met: isHere, name: 'Linux x64' })('the command as a single file', () => {
  let grid: Grid;
  let folder: string;
  let program: string;

  /** Without anything of the surroundings: no Node in the path, no variables but the home. */
  const gridgate = (...words: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const options = { cwd: folder, env: { HOME: folder, PATH: '/nonexistent' } };
      execFile(program, words, options, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  const pki = (name: string): string => join(grid.home, 'pki', name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'grid-binary-'));
    program = join(folder, 'gridgate');
    const words = ['scripts/binary.mjs', program];
    [grid] = await Promise.all([
      startGrid(),
      promisify(execFile)(process.execPath, words, { cwd: support().root }),
    ]);
  }, 4 * MINUTES);

  afterAll(async () => {
    await grid?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('knows its version', async () => {
    const own = await readFile(join(support().root, 'package.json'), 'utf8');
    const { version } = JSON.parse(own) as { version: string };
    expect(await gridgate('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('asks for a login before it has one', async () => {
    const { code, stdout, stderr } = await gridgate('status');
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toMatch(/^gridgate: not logged in\nhint: .*gridgate login/);
  });

  it('signs in, runs a job with a file, shows and fetches its output', async () => {
    const person = ['--cert', pki('alice.crt'), '--key', pki('alice.key')];
    const login = await gridgate('login', '--server', grid.url, '--ca', pki('ca.crt'), ...person);
    expect(login).toMatchObject({ code: 0, stderr: '' });
    const words = ['--exec', '/bin/cat', '--args', 'ca.crt', '--file', pki('ca.crt')];
    const submitted = await gridgate('submit', ...words, '--wait', '-o', 'name');
    expect(submitted).toMatchObject({ code: 0 });
    const jid = submitted.stdout.trim();
    const written = await readFile(pki('ca.crt'), 'utf8');
    expect(await gridgate('logs', jid)).toEqual({ code: 0, stdout: written, stderr: '' });
    expect(await gridgate('output', jid, '--directory', 'out')).toMatchObject({ code: 0 });
    expect(await readFile(join(folder, 'out/std.out'), 'utf8')).toBe(written);
    expect(await gridgate('ls', '/vo/a')).toEqual({
      code: 0,
      stdout: 'run1/\nrun2/\n',
      stderr: '',
    });
  });

  it('makes the completion of what it has', async () => {
    const { code, stdout } = await gridgate('completion', 'bash');
    expect(code).toBe(0);
    expect(stdout).toContain('complete -F _gridgate gridgate');
  });

  it.each(['user', 'serve', 'audit', 'admin'])(
    'says of %s that it is not for a single file',
    async (name) => {
      expect(await gridgate(name, 'list', '--json')).toEqual({
        code: 2,
        stdout: '',
        stderr: `gridgate: ${name} works beside the service and is not in this file\nhint: npm install gridgate\n`,
      });
    },
  );
});
