import type { JsonObject, JsonValue } from '#src/kernel/index.js';

/** A file that came with a job; `hash` is the SHA-256 of its content, hexadecimal. */
export interface HashedFile {
  name: string;
  hash: string;
}

/** What of a manifest reaches its program, beside its files. */
const HANDED_ON = ['Arguments', 'ExecutionEnvironment'];

export const ONLY_OWN_PROGRAMS =
  'Jobs cannot be isolated on this machine: only the programs that GRID_LOCAL_PROGRAMS names are run here, those of the demo';

/**
 * True when a job is one of those that `GRID_LOCAL_PROGRAMS` names: its program was uploaded, all its files are known, and
 * nothing else is handed to the program. Holds for manifests as they are sent and as they are stored.
 */
export function isOwnProgram(
  manifest: JsonObject,
  files: readonly HashedFile[],
  known: readonly string[],
): boolean {
  const isProgram = ({ name }: HashedFile): boolean => name === manifest['Executable'];
  return (
    HANDED_ON.every((key) => isEmpty(manifest[key])) &&
    files.some(isProgram) &&
    files.every(({ hash }) => known.includes(hash))
  );
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
