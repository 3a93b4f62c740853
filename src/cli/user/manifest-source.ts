import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { ManifestRequest } from '#src/client/index.js';
import {
  inexactNumberAt,
  isJsonObject,
  numbersAsTexts,
  parseJson,
  repeatedMember,
  stringifyJson,
  type JsonObject,
  type JsonValue,
} from '#src/kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import { given, jidOf, readText, sourceName } from '../terminal/reading.js';
import { filled, placesOf, settingsOf } from './manifest-template.js';
import { keysOf, mergedWishes, readOptions, type ReadOptions } from './script/job-keys.js';
import { writtenOptions, type JobWishes } from './script/job-options.js';
import {
  isFile,
  isProgramFile,
  isProgramText,
  programFrom,
  programTyped,
  type ReadManifest,
  type TypedFile,
} from './script/program-file.js';
import { countOf, parameterOf, productOf } from './sweep.js';

/** Keys of a manifest whose numbers the service makes texts of. */
const BECOMES_TEXT = /^(?:ExecutionEnvironment|Parameter(?:s|Start|Step|Factor)(?:\..*)?)$/;

/** What `submit` and `run` may say of manifests beside the files. */
export interface ManifestOptions {
  file: string[];
  after: string[];
  set: string[];
  sweep: string[];
  exec: string | undefined;
  args: string | undefined;
  name: string | undefined;
  group: string | undefined;
  /** Numbers of the jobs of an array, or true where the jobs are one. */
  array: string | true | undefined;
}

/** What goes to the service. */
export interface Manifests {
  manifests: ManifestRequest[];
  /** Input files, by their paths here. */
  files: string[];
  /** Those that are no files here. */
  typed: TypedFile[];
  /** Jobs that each manifest makes by a sweep or as an array; 0 without one. */
  swept: number;
  warnings: string[];
}

/** Does with manifests what the options say. Throws CommandError. */
export function manifestsOf(read: readonly ReadManifest[], options: ManifestOptions): Manifests {
  const parameters = options.sweep.map(parameterOf);
  const settings = settingsOf(options.set);
  const asked = askedBy(options);
  const [files, left, unused] = [new Set<string>(), new Set<string>(), new Set(settings.keys())];
  let swept = parameters.length > 0 ? countOf(parameters) : 0;
  const manifests = read.map((one) => {
    const { manifest: asRead, folder, warnings, typed } = one;
    for (const name of placesOf(asRead)) unused.delete(name);
    const whole = settings.size > 0 ? (filled(asRead, settings, left) as JsonObject) : asRead;
    if (settings.size === 0) for (const name of placesOf(asRead)) left.add(name);
    const wishes = mergedWishes(one.wishes, asked.wishes);
    const wished = withWishes(whole, wishes, { options, warn: (text) => void warnings.push(text) });
    const manifest = { ...withOptions(wished, options), ...productOf(parameters) };
    if (wishes.tasksOfArray && parameters.length > 0) {
      throw new CommandError('give --sweep or --array with tasks, not both', 2);
    }
    swept ||= wishes.tasksOfArray?.length ?? 0;
    demandUse(
      manifest,
      parameters.map(({ name }) => name),
    );
    const given = { files: [...options.file, ...one.files], typed };
    for (const file of inputFiles(manifest, folder, given)) files.add(file);
    return manifest;
  });
  if (settings.size > 0) demandFilled(left, unused);
  demandDistinct([...files]);
  const unset = [...left].map((name) => `{{${name}}} stays as it is: --set ${name}=… fills it`);
  const said = [...read.flatMap(({ warnings }) => warnings), ...asked.warnings];
  const warnings = [...new Set([...said, ...(settings.size > 0 ? [] : unset)])];
  const typed = read.flatMap((one) => one.typed ?? []);
  return { manifests, files: [...files], typed, swept, warnings };
}

/** What the command line asks for. Throws CommandError. */
function askedBy(options: ManifestOptions): ReadOptions {
  const { array } = options;
  const tasks = { option: '--array', value: String(array), line: 0 };
  const written = writtenOptions(options as unknown as Record<string, unknown>);
  const read = readOptions([...written, ...(typeof array === 'string' ? [tasks] : [])], () => '');
  if (read.faults.length > 0) throw new CommandError(read.faults.join('\n'), 2);
  return read;
}

/** The manifest with what is wished; what names jobs before it, and variables, is added to its own. */
function withWishes(
  manifest: JsonObject,
  wishes: JobWishes,
  { options, warn }: { options: ManifestOptions; warn: (text: string) => void },
): JsonObject {
  const { After, ExecutionEnvironment: own, JobName: read } = manifest;
  const name = options.name ?? wishes.jobName ?? (typeof read === 'string' ? read : '');
  const keys = keysOf(wishes, { name, warn });
  const { ExecutionEnvironment: variables } = keys as {
    ExecutionEnvironment?: Record<string, string>;
  };
  const list = typeof own === 'string' ? [own] : own;
  const environment = Array.isArray(list)
    ? [...list, ...Object.entries(variables ?? {}).map(([key, value]) => `${key}=${value}`)]
    : { ...(list as JsonObject | undefined), ...variables };
  return {
    ...manifest,
    ...(keys as JsonObject),
    ...(wishes.jobName !== undefined && { JobName: wishes.jobName }),
    ...(variables && { ExecutionEnvironment: environment }),
    ...(keys.After && {
      After: [...((After ?? []) as JsonValue[]), ...(keys.After as JsonValue[])],
    }),
  };
}

function withOptions(asRead: JsonObject, options: ManifestOptions): ManifestRequest {
  const manifest = asRead as Partial<ManifestRequest>; // the service judges it
  const { exec, args, name, group, after } = options;
  const own = manifest.JobName ?? (exec === undefined ? undefined : basename(exec).slice(0, 128));
  const made = {
    ...manifest,
    ...given({ Executable: exec, Arguments: args, JobName: name ?? own, JobGroup: group }),
    ...(after.length > 0 && { After: [...(manifest.After ?? []), ...after.map(conditionOf)] }),
  };
  if (Object.keys(made).length === 0) {
    const hint = 'give a script, a manifest file, or --exec with the program to run';
    throw new CommandError('there is nothing to submit', 2, hint);
  }
  return made as ManifestRequest;
}

/** `7:end` as the condition that it is. */
function conditionOf(text: string): NonNullable<ManifestRequest['After']>[number] {
  const [, jid, on = 'done'] = /^(\d{1,15})(?::(done|failed|end))?$/.exec(text) ?? [];
  if (jid !== undefined) return { jid: jidOf(jid), on: on as 'done' | 'failed' | 'end' };
  const hint = 'give a job id, or one with :done, :failed or :end';
  throw new CommandError(`--after ${text} names no job`, 2, hint);
}

function demandUse(manifest: ManifestRequest, names: string[]): void {
  const text = stringifyJson({
    ...manifest,
    ...Object.fromEntries(names.map((name) => [`Parameters.${name}`, 0])),
  });
  const idle = names.filter((name) => !text.includes(`%(${name})s`));
  if (idle.length === 0) return;
  const example = idle.map((name) => `%(${name})s`).join(' ');
  const hint = `put ${example} into the manifest, for example --args '${example}'; --array 1-10 makes ten that are the same`;
  throw new CommandError('the jobs of the sweep are all the same', 2, hint);
}

function demandFilled(left: Set<string>, unused: Set<string>): void {
  const faults = [
    ...[...left].map((name) => `{{${name}}} is not filled: --set ${name}=… is missing`),
    ...[...unused].map((name) => `--set ${name}: no manifest has {{${name}}}`),
  ];
  if (faults.length > 0) throw new CommandError(faults.join('\n'), 2);
}

/** What `run` is given: a program of the site, or a file here that goes along. Throws CommandError. */
export async function commandFrom([program = '', ...words]: string[]): Promise<ReadManifest> {
  if (!program.startsWith('/') && isFile(program)) return programFrom(program, words);
  const manifest = { Executable: program, JobName: basename(program).slice(0, 128) };
  return { ...readAs({ ...manifest, ...(words.length > 0 && { Arguments: words }) }), words };
}

/** What `submit` is given: a script with its arguments, manifest files, or options alone. Throws CommandError. */
export async function sourcesOf(
  paths: string[],
  options: Pick<ManifestOptions, 'exec' | 'args'>,
): Promise<ReadManifest[]> {
  const [first, ...words] = paths;
  if (first === undefined) return [readAs({})];
  const isHere = isFile(first);
  if (first.startsWith('/') && !existsSync(first)) {
    const hint = /\.json$/i.test(first) ? undefined : `--exec ${first} runs a program of the site`;
    throw new CommandError(`there is no ${first} here`, 2, hint);
  }
  const text = isHere ? '' : await readText(first);
  const isProgram = isHere ? isProgramFile(first) : isProgramText(text);
  if (!isProgram) {
    const others = await Promise.all(
      words.map(async (path) => readFrom(path, await readText(path))),
    );
    return [...readFrom(first, isHere ? await readText(first) : text), ...others.flat()];
  }
  if (options.exec !== undefined) {
    throw new CommandError(`give ${sourceName(first)} or --exec, not both`, 2);
  }
  if (options.args !== undefined && words.length > 0) {
    throw new CommandError('give the arguments behind the script or by --args, not both', 2);
  }
  return [isHere ? await programFrom(first, words) : programTyped(text, words)];
}

/** A manifest that brings nothing but itself. */
function readAs(manifest: JsonObject, folder = '.'): ReadManifest {
  return { manifest, folder, wishes: {}, warnings: [], files: [] };
}

/** The manifest of a text, or those of `{"manifests": […]}`. */
function readFrom(path: string, text: string): ReadManifest[] {
  const folder = path === '-' ? '.' : dirname(path);
  const { value, written } = readJson(path, text);
  const { manifests, job, manifest } = value;
  if (isJsonObject(job ?? null) && isJsonObject(manifest ?? null)) {
    // what `describe -o json` prints
    return [readAs(withTexts(manifest as JsonObject, written['manifest'] as JsonObject), folder)];
  }
  if (manifests === undefined) return [readAs(withTexts(value, written), folder)];
  const others = Object.keys(value).filter((key) => key !== 'manifests');
  if (
    Array.isArray(manifests) &&
    manifests.length > 0 &&
    manifests.every(isJsonObject) &&
    others.length === 0
  ) {
    const texts = written['manifests'] as JsonObject[];
    return manifests.map((one, index) => readAs(withTexts(one, texts[index]), folder));
  }
  const fault = `${path}: manifests must be a list of objects, and nothing else may stand beside it`;
  throw new CommandError(fault, 2, '--array makes an array');
}

/** The manifest with numbers as they are written where the service makes texts of them. */
function withTexts(manifest: JsonObject, written: JsonObject | undefined): JsonObject {
  const members = Object.entries(written ?? {}).filter(([key]) => BECOMES_TEXT.test(key));
  return { ...manifest, ...Object.fromEntries(members) };
}

/** The object of a file, also with all numbers as texts that would be written in another way again. */
function readJson(path: string, text: string): { value: JsonObject; written: JsonObject } {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new CommandError(`${path} is not valid JSON: ${(error as Error).message}`, 2);
  }
  const twice = repeatedMember(text, value);
  if (twice !== undefined) {
    const fault = `${path} has the member "${twice}" twice in one object`;
    throw new CommandError(fault, 2, 'leave one of them out');
  }
  const inexact = inexactNumberAt(text);
  if (inexact !== undefined) {
    const fault = `${path} has a number at position ${inexact} that would become another one`;
    throw new CommandError(fault, 2, 'give it at most 17 digits, or write it as a text');
  }
  if (isJsonObject(value)) {
    return { value, written: parseJson(numbersAsTexts(text)) as JsonObject };
  }
  throw new CommandError(`${path} must hold a JSON object`, 2);
}

function inputFiles(
  manifest: ManifestRequest,
  folder: string,
  { files: given, typed }: Pick<ReadManifest, 'files' | 'typed'>,
): string[] {
  const missing = given.filter((file) => !existsSync(file));
  if (missing.length > 0) throw new CommandError(`no such file: ${missing.join(', ')}`, 2);
  const names = new Set([...given.map((file) => basename(file)), typed?.name ?? '']);
  const wanted = [manifest.InputSandbox ?? []].flat().map(String);
  const beside = wanted
    .filter((name) => !names.has(name) && !/^(LFN|SB):/.test(name))
    .map((name) => resolve(folder, name))
    .filter((file) => existsSync(file));
  const program: unknown = manifest.Executable;
  const isName = typeof program === 'string' && program !== '' && !program.includes('/');
  const own = isName ? resolve(folder, program) : '';
  const isBeside = own !== '' && existsSync(own) && !names.has(basename(own));
  return [
    ...new Set([...given.map((file) => resolve(file)), ...beside, ...(isBeside ? [own] : [])]),
  ];
}

/** Files lie in the sandbox by the last part of their name. */
function demandDistinct(files: string[]): void {
  const seen = new Map<string, string>();
  for (const file of files) {
    const other = seen.get(basename(file));
    if (other !== undefined) {
      throw new CommandError(`${other} and ${file} would have one name in the sandbox`, 2);
    }
    seen.set(basename(file), file);
  }
}
