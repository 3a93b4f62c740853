import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { stringifyJson } from '#src/kernel/index.js';
import { fetchedPaths, INPUT_DATA_FILE, readInputData } from '../manifest/manifest-places.js';
import { Faults } from '../manifest/manifest-values.js';
import { MINOR } from '../state/job-state.js';
import type { InputDataCatalogue, InputFile, RunOrder } from './executor.js';
import { RunFault } from './run-plan.js';

/** Variable of a job with the path of the file that `writeInputData` writes. */
const INPUT_DATA_VARIABLE = 'GRIDGATE_INPUT_DATA';
/** Characters of a path in an application status. */
const SHOWN = 200;

/** The catalogue paths that a manifest names as input data, which were checked when it was submitted. */
export function inputDataOf({ manifest }: Pick<RunOrder, 'manifest'>): string[] {
  const anything = { vo: undefined, maxInputData: Number.MAX_SAFE_INTEGER };
  return readInputData(manifest, anything, new Faults());
}

/** Variables of a job with input data; nothing for others. `directory` is its own, as it sees it. */
export function inputDataVariables(
  order: Pick<RunOrder, 'manifest'>,
  directory: string,
): Record<string, string> {
  return inputDataOf(order).length === 0
    ? {}
    : { [INPUT_DATA_VARIABLE]: `${directory}/${INPUT_DATA_FILE}` };
}

/** What a run is told of its input data, and what is brought to it. */
export interface RunInputs {
  /** JSON text: by `LFN:<path>` the replicas with an address, the size in bytes and the checksum. Absent without input data. */
  text?: string | undefined;
  /** Files that are fetched into its directory before it starts. */
  fetched: FetchedPath[];
}

/** A file of the catalogue that is fetched. */
export interface FetchedPath {
  path: string;
  /** Bytes. */
  size: number | bigint;
}

/**
 * Where the input data of a run lies. Throws RunFault when a file is not in the catalogue any more, or one of its sandbox cannot be
 * fetched, and Problem `service.unavailable` while the catalogue is away.
 */
export async function inputsOf(
  order: RunOrder,
  catalogue: InputDataCatalogue,
): Promise<RunInputs | undefined> {
  const paths = inputDataOf(order);
  const { sandbox, inputData } = fetchedPaths(order.manifest);
  if (paths.length + sandbox.length === 0) return undefined;
  const submitter = { user: order.owner, group: order.ownerGroup };
  const files = await catalogue.files(submitter, [...new Set([...paths, ...sandbox])]);
  const missing = paths.filter((path) => !files.has(path));
  if (missing.length > 0) throw new RunFault(MINOR.inputDataMissing, notInCatalogue(missing));
  const unfetched = sandbox.find((path) => !files.get(path)?.isFetched);
  if (unfetched !== undefined) {
    const app = `${unfetched.slice(0, SHOWN)} lies at no storage element with an address`;
    const fault = files.has(unfetched) ? app : notInCatalogue([unfetched]);
    throw new RunFault(MINOR.inputFilesFailed, fault);
  }
  const fetched = new Set([...sandbox, ...inputData]);
  return {
    ...(paths.length > 0 && { text: textOf(paths, files) }),
    fetched: [...fetched].flatMap((path) => {
      const file = files.get(path);
      return file?.isFetched ? [{ path, size: file.size }] : [];
    }),
  };
}

function textOf(paths: readonly string[], files: ReadonlyMap<string, InputFile>): string {
  const told = paths.flatMap((path): [string, unknown][] => {
    const file = files.get(path);
    if (!file) return [];
    const { size, checksum, replicas } = file;
    return [[`LFN:${path}`, { replicas, size_bytes: size, checksum }]];
  });
  return `${stringifyJson(Object.fromEntries(told))}\n`;
}

/** Writes the text of `inputsOf` into the directory of a run. */
export async function writeInputData(
  text: string | undefined,
  { directory, owner }: { directory: string; owner?: { uid: number; gid: number } | undefined },
): Promise<void> {
  if (text === undefined) return;
  const handle = await open(join(directory, INPUT_DATA_FILE), 'wx', 0o600);
  try {
    await handle.writeFile(text);
    if (owner) await handle.chown(owner.uid, owner.gid);
  } finally {
    await handle.close();
  }
}

/** The application status of a job whose input data is missing. */
export function notInCatalogue(missing: readonly string[]): string {
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
  return `${(missing[0] ?? '').slice(0, SHOWN)}${more} not in the catalogue`;
}
