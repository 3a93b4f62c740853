import type { JsonValue } from '#src/kernel/index.js';
import { splitArguments } from '../manifest/arguments.js';
import { environmentOf } from '../manifest/execution-environment.js';
import { fetchedNames, fetchesFiles, INPUT_DATA_FILE } from '../manifest/manifest-places.js';
import type { RunOrder } from './executor.js';

/** Programs of a site are looked for here; a site's option `path` replaces it. */
export const SITE_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A run that cannot be: the job fails with these. */
export class RunFault extends Error {
  constructor(
    readonly minor: string,
    readonly app: string,
    options?: ErrorOptions,
  ) {
    super(`${minor}: ${app}`, options);
    this.name = 'RunFault';
  }
}

/** What of a manifest matters when it runs. */
export interface RunPlan {
  stdout: string;
  stderr: string;
  outputs: string[];
  /** Names of the files that the job finds in its directory, but for those of the catalogue. */
  inputs: string[];
  /** Names of the files of the catalogue that are brought to it: no output, unless one is named as such. */
  fetched: string[];
  environment: Record<string, string>;
  arguments: string[];
}

/** Reads the manifest of an order, which was checked when it was submitted. */
export function planOf(order: Pick<RunOrder, 'manifest'>): RunPlan {
  const { manifest } = order;
  const stdout = textOf(manifest['StdOutput'], 'std.out');
  const stderr = textOf(manifest['StdError'], 'std.err');
  return {
    stdout,
    stderr,
    outputs: listOf(manifest['OutputSandbox'] ?? [stdout, stderr]).filter((name) => name !== ''),
    inputs: [
      ...listOf(manifest['InputSandbox'] ?? []),
      ...(manifest['InputData'] === undefined ? [] : [INPUT_DATA_FILE]),
    ],
    fetched: fetchesFiles(manifest) ? [...fetchedNames(manifest).values()] : [],
    environment: environmentOf(manifest['ExecutionEnvironment'] ?? {}) ?? {},
    arguments: splitArguments(manifest['Arguments'] as string | string[] | undefined),
  };
}

/** The program as the manifest names it. */
export function executableOf(order: Pick<RunOrder, 'manifest'>): string {
  return textOf(order.manifest['Executable'], '');
}

/** Name of the program in the input sandbox; undefined when it was not uploaded. */
export function uploadedProgram(order: Pick<RunOrder, 'manifest'>): string | undefined {
  const name = executableOf(order).replace(/^\.\//, '');
  return listOf(order.manifest['InputSandbox'] ?? []).includes(name) ? name : undefined;
}

/** Processors that a job asks for; 1 unless told. */
export function processorsOf(order: Pick<RunOrder, 'manifest'>): number {
  const { manifest } = order;
  return numberIn(manifest['NumberOfProcessors'] ?? manifest['MinNumberOfProcessors']) ?? 1;
}

/** What a job sees of the resources that it has asked for. */
export function resourceVariables(order: Pick<RunOrder, 'manifest'>): Record<string, string> {
  const { MaxRAM, WallTime } = order.manifest;
  return {
    GRIDGATE_PROCESSORS: String(processorsOf(order)),
    ...(MaxRAM !== undefined && { GRIDGATE_MAX_RAM: String(numberIn(MaxRAM)) }),
    ...(WallTime !== undefined && { GRIDGATE_WALL_TIME: String(numberIn(WallTime)) }),
  };
}

/** MB of 2^20 bytes that a job takes of its machine: `MaxRAM`, else `MinRAM`; 0 for one that does not say. */
export function memoryOf({ manifest }: Pick<RunOrder, 'manifest'>): number {
  return numberIn(manifest['MaxRAM']) ?? numberIn(manifest['MinRAM']) ?? 0;
}

/** GPUs that a job gets. */
export function gpusOf({ manifest }: Pick<RunOrder, 'manifest'>): number {
  return numberIn(manifest['GPUs']) ?? 0;
}

/** A whole number above zero, which a manifest may write as text too (`wholeNumber`); undefined for anything else. */
function numberIn(value: JsonValue | undefined): number | undefined {
  const isText = typeof value === 'string' && /^\d{1,15}$/.test(value.trim());
  const number = isText || typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 1 ? number : undefined;
}

/** Limits of one job: what it asks for, within what the service allows. */
export interface JobLimits {
  wallSeconds: number;
  memoryMb: number;
}

/** The limits of a job: `WallTime` and `MaxRAM` of its manifest can only lower those of the service. */
export function limitsOf(
  order: Pick<RunOrder, 'manifest'>,
  config: { jobWallTime: number; jobMemoryMb: number },
): JobLimits {
  const lower = (key: string, limit: number): number =>
    Math.min(numberIn(order.manifest[key]) ?? limit, limit);
  return {
    wallSeconds: lower('WallTime', config.jobWallTime),
    memoryMb: lower('MaxRAM', config.jobMemoryMb),
  };
}

/** Names in the input sandbox that are files of the catalogue, whose content this service does not have. */
export function catalogueInputs(order: RunOrder): string[] {
  return listOf(order.manifest['InputSandbox'] ?? []).filter((name) => /^LFN:/i.test(name));
}

function textOf(value: JsonValue | undefined, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback;
}

function listOf(value: JsonValue): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((item) => typeof item === 'string');
}
