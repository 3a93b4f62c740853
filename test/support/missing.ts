import { spawnSync } from 'node:child_process';
import { describe } from '@jest/globals';

/** True when the program is on this machine. */
export function has(program: string): boolean {
  const look = `PATH="$PATH:/usr/sbin:/sbin" command -v ${program}`;
  return spawnSync('sh', ['-c', look]).status === 0;
}

/** A python3 of this machine that can import the module; Debian's packages are for /usr/bin/python3. */
export function pythonWith(module: string): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', `import ${module}`]).status === 0,
  );
}

/**
 * `describe` when the need is met. Otherwise the suite says what is missing and is left out; in CI, which installs
 * everything, it is run and fails.
 */
export function describeWith(need: { met: boolean; name: string }): typeof describe.skip {
  if (need.met || process.env['CI'] === 'true') return describe;
  process.stderr.write(`left out, not on this machine: ${need.name}\n`);
  return describe.skip;
}
