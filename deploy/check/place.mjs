import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The folder deploy/, and the project's. */
export const deploy = dirname(dirname(fileURLToPath(import.meta.url)));
export const root = dirname(deploy);

const PATH = `${join(root, '.tools/bin')}:${process.env.PATH}:/usr/sbin:/sbin`;

/** True when the program is installed. */
export function has(program) {
  const look = { env: { ...process.env, PATH } };
  return spawnSync('sh', ['-c', `command -v ${program}`], look).status === 0;
}

/** Runs a program to its end; answers its output, throws with it unless the end is 0. */
export async function run(program, args, { cwd, env = {}, seconds = 600 } = {}) {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: seconds * 1000,
  });
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  const [output, faults, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code === 0) return output;
  throw new Error(
    `${program} ${args.join(' ')} ended with ${code}\n${(output + faults).slice(-3000)}`,
  );
}

/** Runs the work with a fresh temporary directory that is removed afterwards. */
export async function inTemporaryDirectory(work) {
  const directory = await mkdtemp(join(tmpdir(), 'gridgate-deploy-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
