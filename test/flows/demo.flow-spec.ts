import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts } from '../support/ports.mjs';
import { eventually, support } from '../support/testbed.js';

const STEPS = [
  'A token',
  'A job with two input files',
  'Watch it',
  'Fetch and unpack its output',
  'Search the catalogue',
  'Which values are compatible',
];

describe('npm run demo', () => {
  let folder: string;
  let demo: ChildProcess;
  let url: string;
  let shown = '';
  let complaints = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'grid-demo-'));
    const { root } = support();
    for (const name of ['package.json', 'node_modules', 'dist']) {
      await symlink(join(root, name), join(folder, name));
    }
    // copied, so that it looks for sources here, and finds none to build anew
    await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
    const [port = 0] = await freePorts(1);
    url = `https://localhost:${port}`;
    const env = { PATH: process.env['PATH'], HOME: folder, GRID_PORT: String(port) };
    demo = spawn(process.execPath, ['scripts/demo.mjs'], { cwd: folder, env });
    demo.stdout?.on('data', (text: Buffer) => (shown += text.toString()));
    demo.stderr?.on('data', (text: Buffer) => (complaints += text.toString()));
    await eventually(
      () => Promise.resolve(shown.includes('certificates ') || demo.exitCode !== null),
      'the walk comes to its end',
      80_000,
    );
  }, 90_000);
  afterAll(async () => {
    if (demo?.exitCode === null) {
      demo.kill('SIGKILL');
      await once(demo, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('walks through the main job on embedded defaults, without a complaint', () => {
    expect(complaints).toBe('');
    for (const step of STEPS) expect(shown).toContain(step);
    expect(shown).toMatch(/word-count Done \(Execution Complete\) at LOCAL\./);
    expect(shown).toMatch(/counts\.txt:\n +3 muon\n +2 electron\n +1 photon\n/);
    for (const place of ['/portal/', '/docs', '/docs/openapi.json', '/health/ready']) {
      expect(shown).toContain(`${url}${place}`);
    }
  });

  it('prints curl lines that do the same', async () => {
    const lines = [...shown.matchAll(/^\s*\$ (curl .+)$/gm)].map(([, line]) => line ?? '');
    expect(lines).toHaveLength(STEPS.length);
    for (const line of lines) {
      const { stdout } = await promisify(execFile)('sh', ['-ec', line.replace('-sS', '-sSf')]);
      expect(stdout).toMatch(/^(\{.*\}\s*|[\w./-]+\n)+$/s);
    }
  });

  it('ends with Ctrl-C, and its database with it', async () => {
    demo.kill('SIGINT');
    const [code] = (await once(demo, 'exit')) as [number];
    expect(code).toBe(0);
    const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
    expect(stdout).not.toContain(folder);
  });
});
