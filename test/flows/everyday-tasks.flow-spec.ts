import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandUser } from '../support/command.js';
import { blocksOf, faultsOf, type Block } from '../support/documentation.js';
import { describeWith, pythonWith } from '../support/missing.js';
import { startGrid, support, type Grid } from '../support/testbed.js';

const PAGE = 'docs/how-to/everyday-tasks.md';
const TASKS = 25;
const run = promisify(execFile);
const blocks = blocksOf(PAGE);
/** What the reader does; the rest is what a test has of its own. */
const done = blocks.filter(({ mark }) => mark?.kind !== 'not run');

let grid: Grid;
let home: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  grid = await startGrid();
  home = await mkdtemp(join(tmpdir(), 'grid-everyday-'));
  await mkdir(join(home, 'bin'));
  const { root } = support();
  await symlink(join(root, 'bin/gridgate.mjs'), join(home, 'bin/gridgate'));
  const own = join(home, 'node_modules/gridgate-client');
  await mkdir(own, { recursive: true });
  await symlink(join(root, 'dist/src/client'), join(own, 'client'));
  const exports = { '.': './client/index.js' };
  await writeFile(join(own, 'package.json'), JSON.stringify({ type: 'module', exports }));
  const pki = (name: string): string => join(grid.home, 'pki', name);
  env = {
    ...{ HOME: home, PATH: `${join(home, 'bin')}:${process.env['PATH']}`, GRID: grid.url },
    ...{ CA: pki('ca.crt'), CERT: pki('alice.crt'), KEY: pki('alice.key') },
    NODE_EXTRA_CA_CERTS: pki('ca.crt'),
  };
  const user = new CommandUser(home);
  await user.login(grid);
  const { token } = await user.storedLogin();
  env['TOKEN'] = token.access_token;
});

afterAll(async () => {
  await grid?.remove();
  await rm(home, { recursive: true, force: true });
});

/** The blocks of one language as one program, which says on standard error where it is. */
function program(language: string, mark: (line: number) => string): string {
  return done
    .filter((block: Block) => block.language === language)
    .map(({ line, text }) => `${mark(line)}\n${text}\n`)
    .join('\n');
}

async function execute(name: string, words: string[], text: string): Promise<string> {
  await writeFile(join(home, name), text);
  const [command = '', ...rest] = words;
  const options = { cwd: home, env, timeout: 150_000 };
  const { stdout } = await run(command, [...rest, join(home, name)], options);
  return stdout;
}

describe('everyday tasks', () => {
  it('has each of them in three languages, marked', () => {
    expect(faultsOf(blocks)).toEqual([]);
    const count = (language: string): number =>
      done.filter((block) => block.language === language).length;
    expect(['sh', 'ts', 'python'].map(count)).toEqual([TASKS, TASKS, TASKS]);
  });

  it('are done by the command', async () => {
    const text = `set -e\n${program('sh', (line) => `echo "line ${line}" >&2`)}`;
    expect(await execute('everyday.sh', ['bash'], text)).toContain('hello\n');
  });

  it('are done in TypeScript', async () => {
    const text = program('ts', (line) => (line < 20 ? '' : `console.error('line ${line}');`));
    expect(await execute('everyday.mjs', [process.execPath], text)).toContain('2\n');
  });
});

/** python3 that can make environments, as for the package itself. */
const python = pythonWith('venv, ensurepip');

describeWith({ met: python !== undefined, name: 'python3-venv' })('everyday tasks', () => {
  beforeAll(async () => {
    await run(python ?? 'python3', ['-m', 'venv', join(home, 'venv')]);
    const words = ['-q', '--disable-pip-version-check', 'install', 'httpx'];
    await run(join(home, 'venv/bin/pip'), words, { env: process.env });
  });

  it('are done in Python', async () => {
    env['PYTHONPATH'] = join(support().root, 'python/src');
    const text = `import sys\n${program('python', (line) => `print("line ${line}", file=sys.stderr)`)}`;
    expect(await execute('everyday.py', [join(home, 'venv/bin/python')], text)).toContain('2\n');
  });
});
