import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './ports.mjs';
import { eventually, support } from './testbed.js';

/** `npm run demo` in a folder of its own. */
export interface Demo {
  folder: string;
  url: string;
  process: ChildProcess;
  shown(): string;
  complaints(): string;
  /** Ends it at once and removes the folder. */
  remove(): Promise<void>;
}

/**
 * Starts the demo and waits until its walk is over, or it has ended. `through` are words before its command, `owner` the
 * account that it runs under by them.
 */
export async function startDemo(
  options: { through?: readonly string[]; owner?: number } = {},
): Promise<Demo> {
  const { through = [], owner } = options;
  const folder = await mkdtemp(join(tmpdir(), 'grid-demo-'));
  const { root } = support();
  for (const name of ['package.json', 'node_modules', 'dist']) {
    await symlink(join(root, name), join(folder, name));
  }
  // copied, so that it looks for sources here, and finds none to build anew
  await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
  if (owner !== undefined) execFileSync('chown', ['-Rh', String(owner), folder]);
  const [port = 0] = await freePorts(1);
  const env = { PATH: process.env['PATH'], HOME: folder, GRID_PORT: String(port) };
  const [program, ...words] = [...through, process.execPath, 'scripts/demo.mjs'];
  const demo = spawn(program, words, { cwd: folder, env });
  let shown = '';
  let complaints = '';
  demo.stdout.on('data', (text: Buffer) => (shown += text.toString()));
  demo.stderr.on('data', (text: Buffer) => (complaints += text.toString()));
  const isOver = (): boolean => shown.includes('certificates ') || demo.exitCode !== null;
  await eventually(() => Promise.resolve(isOver()), 'the walk comes to its end', 120_000);
  return {
    folder,
    url: `https://localhost:${port}`,
    process: demo,
    shown: () => shown,
    complaints: () => complaints,
    remove: async () => {
      if (demo.exitCode === null) {
        demo.kill('SIGKILL');
        await once(demo, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
