import type { JsonObject } from '#src/kernel/index.js';

/** A file that came with a job; `hash` is the SHA-256 of its content, hexadecimal. */
export interface HashedFile {
  name: string;
  hash: string;
}

/** What a manifest may say when only known programs may run: nothing that a program reads or that chooses another one. */
const HARMLESS = new Set([
  ...[
    'JobName',
    'JobGroup',
    'Executable',
    'InputSandbox',
    'OutputSandbox',
    'StdOutput',
    'StdError',
  ],
]);

export const ONLY_OWN_PROGRAMS =
  'Jobs cannot be isolated on this machine: only the programs that GRID_LOCAL_PROGRAMS names are run here, those of the demo';

/** True when a job is one of those that `GRID_LOCAL_PROGRAMS` names: all its files, and nothing beside them. */
export function isOwnProgram(
  manifest: JsonObject,
  files: readonly HashedFile[],
  known: readonly string[],
): boolean {
  const isProgram = ({ name }: HashedFile): boolean => name === manifest['Executable'];
  return (
    Object.keys(manifest).every((key) => HARMLESS.has(key)) &&
    files.some(isProgram) &&
    files.every(({ hash }) => known.includes(hash))
  );
}
