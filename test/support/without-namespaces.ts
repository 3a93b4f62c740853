import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { filtered } from '#src/worker/isolation/filter-loader.js';

/** Numbers of clone, unshare, mount and setns by `process.arch`. */
const NUMBERS: Record<string, [clone: number, ...others: number[]]> = {
  x64: [56, 272, 165, 308],
  arm64: [220, 97, 40, 268],
};
const CLONE3 = 435;
const NEW_NAMESPACES = 0x7e020000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const ALLOW = 0x7fff0000;
const [LOAD, EQUAL, ANY_BIT, RETURN] = [0x20, 0x15, 0x45, 0x06];

/**
 * Words before a command that refuse it what a container refuses whose security profile permits no namespaces: a filter
 * of system calls, written to `file`. Undefined when this machine cannot load one.
 */
export function withoutNamespaces(file: string): string[] | undefined {
  const [clone, ...others] = NUMBERS[process.arch] ?? [];
  if (clone === undefined) return undefined;
  const program = [
    [LOAD, 0, 0, 0],
    [EQUAL, 0, 1, CLONE3],
    [RETURN, 0, 0, ENOSYS],
    ...others.flatMap((number) => [
      [EQUAL, 0, 1, number],
      [RETURN, 0, 0, EPERM],
    ]),
    [EQUAL, 0, 3, clone],
    [LOAD, 0, 0, 16],
    [ANY_BIT, 0, 1, NEW_NAMESPACES],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ] as [number, number, number, number][];
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  writeFileSync(file, bytes, { mode: 0o644 });
  const words = ['setpriv', '--no-new-privs', '--', ...filtered({ perl: 'perl', file })];
  const [first = '', ...rest] = words;
  const isRefused = spawnSync(first, [...rest, 'unshare', '--user', 'true']).status !== 0;
  const works = spawnSync(first, [...rest, 'true']).status === 0;
  return isRefused && works ? words : undefined;
}
