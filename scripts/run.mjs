import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a program in the project's folder and rejects unless it ends with 0. */
export function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: 'inherit', ...options });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ${args.join(' ')} ended with ${signal ?? code}`));
    });
  });
}

/** Newest modification time (ms) of the files below a path, specs excepted: they are not built. */
export function newest(path) {
  if (!existsSync(path)) return 0;
  const info = statSync(path);
  if (!info.isDirectory()) return path.endsWith('.spec.ts') ? 0 : info.mtimeMs;
  return readdirSync(path).reduce((time, name) => Math.max(time, newest(join(path, name))), 0);
}

/** Builds when dist is missing, unfinished or older than the sources. */
export async function buildWhenNeeded() {
  const entry = join(root, 'dist/src/main.js');
  const isWhole = existsSync(join(root, 'dist/commonjs/client.js')); // what a build makes last
  const sources = [
    'src',
    'examples/portal',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'nest-cli.json',
  ];
  if (existsSync(entry) && isWhole) {
    const built = newest(join(root, 'dist/src'));
    if (
      sources.every((path) => !existsSync(join(root, path)) || newest(join(root, path)) <= built)
    ) {
      return;
    }
  }
  if (!existsSync(join(root, 'node_modules/esbuild'))) {
    if (existsSync(entry)) return; // an installed package: built already, no compiler here
    throw new Error('dist/ is missing and the compiler is not installed: run npm ci first');
  }
  process.stderr.write('building…\n');
  await run('node', ['scripts/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] });
}
