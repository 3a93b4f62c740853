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
import { given, jidOf, readText } from '../terminal/reading.js';
import { filled, placesOf, settingsOf } from './manifest-template.js';
import { countOf, parameterOf, productOf } from './sweep.js';

/** Keys of a manifest whose numbers the service makes texts of. */
const BECOMES_TEXT = /^(?:ExecutionEnvironment|Parameter(?:s|Start|Step|Factor)(?:\..*)?)$/;

/** What `submit` may say of manifests beside the files. */
export interface ManifestOptions {
  file: string[];
  after: string[];
  set: string[];
  sweep: string[];
  exec: string | undefined;
  args: string | undefined;
  name: string | undefined;
  group: string | undefined;
}

/** What goes to the service. */
export interface Manifests {
  manifests: ManifestRequest[];
  /** Input files, by their paths here. */
  files: string[];
  /** What a sweep makes; 0 without one. */
  swept: number;
  warnings: string[];
}

/** Reads the manifest files (none: one of the options) and does with them what the options say. Throws CommandError. */
export async function manifestsOf(paths: string[], options: ManifestOptions): Promise<Manifests> {
  const read =
    paths.length === 0
      ? [{ manifest: {}, folder: '.' }]
      : (await Promise.all(paths.map(readFrom))).flat();
  const parameters = options.sweep.map(parameterOf);
  const swept = parameters.length > 0 ? countOf(parameters) : 0;
  const settings = settingsOf(options.set);
  const [files, left, unused] = [new Set<string>(), new Set<string>(), new Set(settings.keys())];
  const manifests = read.map(({ manifest: asRead, folder }) => {
    for (const name of placesOf(asRead)) unused.delete(name);
    const whole = settings.size > 0 ? (filled(asRead, settings, left) as JsonObject) : asRead;
    if (settings.size === 0) for (const name of placesOf(asRead)) left.add(name);
    const manifest = { ...withOptions(whole, options), ...productOf(parameters) };
    demandUse(
      manifest,
      parameters.map(({ name }) => name),
    );
    for (const file of inputFiles(manifest, folder, options.file)) files.add(file);
    return manifest;
  });
  if (settings.size > 0) demandFilled(left, unused);
  demandDistinct([...files]);
  const warnings = [...left].map((name) => `{{${name}}} stays as it is: --set ${name}=… fills it`);
  return { manifests, files: [...files], swept, warnings: settings.size > 0 ? [] : warnings };
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
    const hint = 'give a manifest file, or --exec with the program to run';
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
  const hint = `put ${example} into the manifest, for example --args '${example}'`;
  throw new CommandError('the jobs of the sweep are all the same', 2, hint);
}

function demandFilled(left: Set<string>, unused: Set<string>): void {
  const faults = [
    ...[...left].map((name) => `{{${name}}} is not filled: --set ${name}=… is missing`),
    ...[...unused].map((name) => `--set ${name}: no manifest has {{${name}}}`),
  ];
  if (faults.length > 0) throw new CommandError(faults.join('\n'), 2);
}

interface Read {
  manifest: JsonObject;
  folder: string;
}

/** The manifest of a file, or those of `{"manifests": […]}`. */
async function readFrom(path: string): Promise<Read[]> {
  const folder = path === '-' ? '.' : dirname(path);
  const { value, written } = await readJson(path);
  const { manifests } = value;
  if (manifests === undefined) return [{ manifest: withTexts(value, written), folder }];
  const others = Object.keys(value).filter((key) => key !== 'manifests');
  if (
    Array.isArray(manifests) &&
    manifests.length > 0 &&
    manifests.every(isJsonObject) &&
    others.length === 0
  ) {
    const texts = written['manifests'] as JsonObject[];
    return manifests.map((one, index) => ({ manifest: withTexts(one, texts[index]), folder }));
  }
  const text = `${path}: manifests must be a list of objects, and nothing else may stand beside it`;
  throw new CommandError(text, 2, '--array makes an array');
}

/** The manifest with numbers as they are written where the service makes texts of them. */
function withTexts(manifest: JsonObject, written: JsonObject | undefined): JsonObject {
  const members = Object.entries(written ?? {}).filter(([key]) => BECOMES_TEXT.test(key));
  return { ...manifest, ...Object.fromEntries(members) };
}

/** The object of a file, also with all numbers as texts that would be written in another way again. */
async function readJson(path: string): Promise<{ value: JsonObject; written: JsonObject }> {
  const text = await readText(path);
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

function inputFiles(manifest: ManifestRequest, folder: string, given: string[]): string[] {
  const missing = given.filter((file) => !existsSync(file));
  if (missing.length > 0) throw new CommandError(`no such file: ${missing.join(', ')}`, 2);
  const names = new Set(given.map((file) => basename(file)));
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
