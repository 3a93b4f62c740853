import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import { programPath, programPaths } from './programs.mjs';

/** True when the program is on this machine. */
export function has(program: string): boolean {
  return programPath(program) !== undefined;
}

/** True when nginx can speak of streams: built in, or as the module that Debian keeps in a package of its own. */
export function nginxHasStream(): boolean {
  const nginx = programPath('nginx');
  if (nginx === undefined) return false;
  const directory = mkdtempSync(join(tmpdir(), 'grid-stream-'));
  const text = `include /etc/nginx/modules-enabled/*.conf;\npid ${directory}/pid;\nevents {}\nstream {}\n`;
  try {
    const file = join(directory, 'nginx.conf');
    writeFileSync(file, text);
    return spawnSync(nginx, ['-t', '-q', '-c', file, '-g', 'error_log stderr;']).status === 0;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A python3 of this machine that can import the modules: the last in PATH, Debian's, which jobs find as well. */
export function pythonWith(modules: string): string | undefined {
  return programPaths('python3').findLast(
    (python) => spawnSync(python, ['-c', `import ${modules}`]).status === 0,
  );
}

/**
 * `describe` when the need is met. Otherwise the suite says what is missing and is left out; in a run that is meant to have
 * everything (GRID_TEST_ALL=true) it is run and fails.
 */
export function describeWith(need: { met: boolean; name: string }): typeof describe.skip {
  if (need.met || process.env['GRID_TEST_ALL'] === 'true') return describe;
  process.stderr.write(`left out, not on this machine: ${need.name}\n`);
  return describe.skip;
}

/** The same for what the machine itself has or has not, and no package brings: left out in every run. */
export function describeOn(machine: { met: boolean; name: string }): typeof describe.skip {
  if (machine.met) return describe;
  process.stderr.write(`left out, this machine has it not: ${machine.name}\n`);
  return describe.skip;
}
