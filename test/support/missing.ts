import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';

/** True when the program is on this machine. */
export function has(program: string): boolean {
  const look = `PATH="$PATH:/usr/sbin:/sbin" command -v ${program}`;
  return spawnSync('sh', ['-c', look]).status === 0;
}

/** True when nginx can speak of streams: built in, or as the module that Debian keeps in a package of its own. */
export function nginxHasStream(): boolean {
  if (!has('nginx')) return false;
  const directory = mkdtempSync(join(tmpdir(), 'grid-stream-'));
  const text = `include /etc/nginx/modules-enabled/*.conf;\npid ${directory}/pid;\nevents {}\nstream {}\n`;
  try {
    const file = join(directory, 'nginx.conf');
    writeFileSync(file, text);
    const command = `PATH="$PATH:/usr/sbin:/sbin" nginx -t -q -c ${file} -g 'error_log stderr;'`;
    return spawnSync('sh', ['-c', command]).status === 0;
  } finally {
    rmSync(directory, { recursive: true });
  }
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

/** The same for what the machine itself has or has not, and no package brings: left out in CI as well. */
export function describeOn(machine: { met: boolean; name: string }): typeof describe.skip {
  if (machine.met) return describe;
  process.stderr.write(`left out, this machine has it not: ${machine.name}\n`);
  return describe.skip;
}
