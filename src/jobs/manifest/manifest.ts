import type { JsonObject, JsonValue, Violation } from '#src/kernel/index.js';
import type { Site } from '#src/registry/index.js';
import { splitArguments } from './arguments.js';
import { fileNameFault, isWellFormed, relativePathFault } from './file-name.js';
import {
  isKnownKey,
  keptKeys,
  KEY_ALIASES,
  keysOfKind,
  MANIFEST_KEYS,
  nearestKey,
  type KeyOfKind,
} from './manifest-keys.js';
import { readConditions, readJobLabel, type JobCondition } from './job-conditions.js';
import { checkEnvironment } from './execution-environment.js';
import { readToken, type TokenWish } from './job-token.js';
import { Faults, isTextList, splitLists, wholeNumber } from './manifest-values.js';
import { pointerTo, type ManifestWarning } from './manifest-warning.js';
import {
  INPUT_DATA_FILE,
  inputPathFault,
  LFN,
  readInputData,
  readInputDataPolicy,
  readSites,
} from './manifest-places.js';
import { insteadOf } from './not-offered.js';
import { readOutputData } from './output-data.js';
import { lackOf, readResources, type JobResources } from './resources.js';

/** What the rules of a manifest depend on. */
export interface ManifestContext {
  user: string;
  dn: string;
  group: string;
  setup: string;
  vo: string | undefined;
  /** Sites that run jobs of the setup and the virtual organisation. */
  sites: ReadonlySet<string>;
  /** The same sites with what they have. */
  siteList: readonly Site[];
  /** Names of those that get no new jobs; absent: none. */
  drained?: ReadonlySet<string>;
  /** Names of the files that came with the request. */
  files: readonly string[];
  maxInputData: number;
  /** Names of the storage elements with an address that take files of the virtual organisation. */
  storageElements: ReadonlySet<string>;
}

/** A job as it was asked for: the manifest to keep, and the values that the service needs of it. */
export interface JobRequest {
  manifest: JsonObject;
  name: string;
  jobGroup: string;
  jobType: string;
  priority: number;
  cpuTime: number;
  /** Wanted sites; empty: any. */
  sites: string[];
  bannedSites: string[];
  /** Catalogue paths without `LFN:`. */
  inputData: string[];
  resources: JobResources;
  /** What its token is wanted to be; absent for a job without one. */
  token?: TokenWish;
  /** Its name within the request. */
  label?: string;
  /** Waits until it is released. */
  hold: boolean;
  /** What it waits for; absent for a job that waits for no other one. */
  after?: JobCondition[];
}

/** A manifest read: the job, or every fault of it; and what looks like a mistake. */
export interface ManifestReading {
  job: JobRequest;
  violations: Violation[];
  warnings: ManifestWarning[];
}

const MAX_DEPTH = 8;
const MAX_LACKS = 5;
const NO_STORAGE = 'no storage element with an address takes files of the virtual organisation';
const NO_SITES = 'there is none of those it may run on for its setup and virtual organisation';
const KEPT_TEXTS = keptKeys('text');
const KEPT_LISTS = keptKeys('texts');
const OUTPUT_STREAMS = keysOfKind('file');
const DROPPED = keysOfKind('dropped');

/** Reads one manifest and lists everything that is wrong with it. */
export function readManifest(raw: JsonObject, context: ManifestContext): ManifestReading {
  const faults = new Faults();
  const warnings: ManifestWarning[] = [];
  const written = splitLists(renameAliases(raw, faults, warnings), context.files);
  const manifest = withData(written, context, faults);
  checkText(manifest, faults);
  readProgram(manifest, faults);
  const files = readInputSandbox(manifest, context, faults);
  const outputs = readOutputs(manifest, faults);
  const { sites, bannedSites } = readSites(manifest, context.sites, { faults, warnings });
  const inputData = readInputData(manifest, context, faults);
  if (inputData.length > 0 && files.includes(INPUT_DATA_FILE)) {
    faults.add(
      'InputSandbox',
      `${INPUT_DATA_FILE}: the service writes this file, name yours otherwise`,
    );
  }
  checkOtherKeys(manifest, faults);
  checkEnvironment(manifest, { faults, warnings });
  const token = readToken(manifest, faults);
  const name = readJobLabel(manifest, faults);
  const after = readConditions(manifest, faults);
  const job: JobRequest = {
    manifest,
    name: label(manifest, 'JobName', { faults, warnings }),
    jobGroup: label(manifest, 'JobGroup', { faults, warnings }),
    jobType: oneOf(manifest, 'JobType', faults) ?? MANIFEST_KEYS.JobType.fallback,
    priority: wholeNumber(manifest, 'Priority', faults) ?? MANIFEST_KEYS.Priority.fallback,
    cpuTime: wholeNumber(manifest, 'CPUTime', faults) ?? MANIFEST_KEYS.CPUTime.fallback,
    sites,
    bannedSites,
    inputData,
    resources: readResources(manifest, faults),
    hold: flag(manifest, 'Hold', faults),
    ...(token && { token }),
    ...(name !== undefined && { label: name }),
    ...(after.length > 0 && { after }),
  };
  const made = files.length > 0 ? { ...outputs, InputSandbox: files } : outputs;
  job.manifest = keptManifest(job, made, { context, faults });
  warnOfLack(job, context, warnings);
  if (manifest['OutputData'] !== undefined && context.storageElements.size === 0) {
    warnings.push({
      code: 'manifest.no-effect',
      detail: `OutputData is kept in the manifest; only OutputSandbox is brought back, as ${NO_STORAGE}`,
      pointer: pointerTo('OutputData'),
    });
  }
  return { job, violations: faults.all, warnings };
}

/** Says what becomes of input data and outputs, where files can be fetched and stored. */
function withData(
  manifest: JsonObject,
  { storageElements: elements, vo }: ManifestContext,
  faults: Faults,
): JsonObject {
  const policy = readInputDataPolicy(manifest, faults);
  const { InputData: inputs, OutputData: outputs } = manifest;
  if (elements.size === 0) refuseOutputObjects(outputs, faults);
  if (elements.size === 0 || [policy, inputs, outputs].every((one) => one === undefined)) {
    return manifest;
  }
  const wishes = readOutputData(manifest, { vo, elements }, faults);
  return {
    ...manifest,
    ...((policy ?? inputs) !== undefined && { InputDataPolicy: policy ?? 'download' }),
    ...(wishes.length > 0 && { OutputData: wishes.map((wish) => ({ ...wish })) }),
  };
}

/** Texts are kept, as they always were; whoever writes more wants files to be stored. */
function refuseOutputObjects(outputs: JsonValue | undefined, faults: Faults): void {
  const list = Array.isArray(outputs) ? outputs : [outputs ?? ''];
  if (list.every((one) => typeof one === 'string')) return;
  faults.add('OutputData', `must be texts, as ${NO_STORAGE}`);
}

/** The manifest itself where no key has another name. Pairs make the new object: `__proto__` is a key like any other. */
function renameAliases(raw: JsonObject, faults: Faults, warnings: ManifestWarning[]): JsonObject {
  const keys = Object.keys(raw);
  for (const key of keys) if (!isKnownKey(key)) warnOfUnknown(key, raw, { faults, warnings });
  if (!keys.some((key) => KEY_ALIASES.has(key))) return raw;
  const members: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(raw)) {
    const alias = KEY_ALIASES.get(key);
    if (alias === undefined) members.push([key, value]);
    else if (raw[alias] === undefined) members.push([alias, value]);
    else faults.add(key, `is another name of ${alias}, which is given too`);
  }
  return Object.fromEntries(members);
}

function warnOfUnknown(
  key: string,
  raw: JsonObject,
  { faults, warnings }: { faults: Faults; warnings: ManifestWarning[] },
): void {
  const alias = KEY_ALIASES.get(key);
  const near = alias ?? nearestKey(key);
  const instead = insteadOf(key);
  if (instead !== undefined) faults.add(key, 'is not offered here', instead);
  else if (alias !== undefined) {
    const detail = `${key} is read as ${alias}`;
    warnings.push({ code: 'manifest.alias', detail, pointer: pointerTo(key) });
  } else if (near === 'Executable' && raw['Executable'] === undefined) {
    faults.add(key, 'is not known; did you mean Executable?');
  } else {
    const question = near === undefined ? '' : `; did you mean ${near}?`;
    const problem = `is not known and has no effect${question}`;
    if (near !== undefined) faults.hint(key, problem);
    const detail = `${key} ${problem}`;
    warnings.push({ code: 'manifest.unknown-key', detail, pointer: pointerTo(key) });
  }
}

/** The sites that a job wants, without those that it bans. */
export function allowedSites(
  { sites, bannedSites }: Pick<JobRequest, 'sites' | 'bannedSites'>,
  siteList: readonly Site[],
): Site[] {
  return siteList.filter(
    ({ name }) => (sites.length === 0 || sites.includes(name)) && !bannedSites.includes(name),
  );
}

function warnOfLack(
  job: JobRequest,
  { siteList, drained }: ManifestContext,
  warnings: ManifestWarning[],
): void {
  const allowed = allowedSites(job, siteList);
  const lacks: string[] = [];
  const closed: string[] = [];
  for (const site of allowed) {
    const lack = lackOf(site, job.resources);
    if (lack === undefined && !drained?.has(site.name)) return;
    if (lack === undefined) closed.push(site.name);
    else if (lacks.length < MAX_LACKS) lacks.push(`${site.name}: ${lack}`);
  }
  if (closed.length > 0) {
    const named = closed.slice(0, MAX_LACKS).join(', ');
    const more = closed.length > MAX_LACKS ? ` and ${closed.length - MAX_LACKS} more` : '';
    const detail = `Every site that can hold the job is drained (${named}${more})`;
    warnings.push({ code: 'manifest.sites-drained', detail, pointer: '' });
    return;
  }
  const why = lacks.length === 0 ? NO_SITES : lacks.join('; ');
  const detail = `No site can hold the job now (${why})`;
  warnings.push({ code: 'manifest.no-site', detail, pointer: '' });
}

function checkText(manifest: JsonObject, faults: Faults): void {
  for (const [key, value] of Object.entries(manifest)) {
    const fault = textFault(key, 0) ?? textFault(value, 1);
    if (fault !== undefined) faults.add(key.replaceAll('\0', '?'), fault);
  }
}

function textFault(value: JsonValue, depth: number): string | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'contains a NUL character';
    return isWellFormed(value) ? undefined : 'is not valid Unicode';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  for (const [key, member] of Object.entries(value)) {
    const fault = textFault(key, depth) ?? textFault(member, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function readProgram(manifest: JsonObject, faults: Faults): void {
  const { Executable: executable, Arguments: given } = manifest;
  if (executable === undefined) faults.add('Executable', 'is missing');
  else if (typeof executable !== 'string') faults.add('Executable', 'must be a text');
  else if (executable.trim() === '') faults.add('Executable', 'is empty');
  if (given === undefined) return;
  if (typeof given !== 'string' && !isTextList(given)) {
    faults.add('Arguments', 'must be a text or a list of texts');
    return;
  }
  try {
    splitArguments(given);
  } catch {
    faults.add('Arguments', 'has a quote or backslash without its end');
  }
}

function readInputSandbox(
  manifest: JsonObject,
  context: ManifestContext,
  faults: Faults,
): string[] {
  const listed = faults.texts(manifest, 'InputSandbox');
  const uploaded = new Set(context.files);
  const names: string[] = [];
  for (const name of listed) {
    if (name === '') continue;
    if (/^SB:/i.test(name)) {
      faults.add('InputSandbox', `${name}: sandbox references cannot be handed in`);
    } else if (LFN.test(name)) {
      const fault = name.startsWith('LFN:/') ? undefined : 'must start with LFN:/';
      const pathFault = fault ?? inputPathFault(name.slice(4), context.vo);
      if (pathFault !== undefined) faults.add('InputSandbox', `${name}: ${pathFault}`);
    } else {
      const fault = fileNameFault(name.replace(/^\.\//, ''));
      if (fault !== undefined) faults.add('InputSandbox', `${name}: ${fault}`);
      else if (!uploaded.has(name.replace(/^\.\//, ''))) {
        faults.add('InputSandbox', `${name}: no such file was uploaded`);
      }
    }
    names.push(name.replace(/^\.\//, ''));
  }
  return [...new Set([...names, ...context.files])];
}

function readOutputs(manifest: JsonObject, faults: Faults): JsonObject {
  const names: Record<string, string> = {};
  for (const key of OUTPUT_STREAMS) {
    const { fallback } = MANIFEST_KEYS[key];
    const value = manifest[key] === undefined ? fallback : manifest[key];
    names[key] = typeof value === 'string' && value !== '' ? value : fallback;
    const fault = typeof value === 'string' ? fileNameFault(names[key]) : 'must be a text';
    if (fault !== undefined) faults.add(key, fault);
  }
  if (manifest['OutputSandbox'] === undefined) {
    return { ...names, OutputSandbox: [...new Set(Object.values(names))] };
  }
  for (const path of faults.texts(manifest, 'OutputSandbox')) {
    const fault = path === '' ? undefined : relativePathFault(path);
    if (fault !== undefined) faults.add('OutputSandbox', `${path}: ${fault}`);
  }
  return names;
}

function checkOtherKeys(manifest: JsonObject, faults: Faults): void {
  for (const key of KEPT_TEXTS) {
    if (manifest[key] !== undefined && typeof manifest[key] !== 'string') {
      faults.add(key, 'must be a text');
    }
  }
  for (const key of KEPT_LISTS) faults.texts(manifest, key);
  faults.texts(manifest, 'OutputSE');
  const { OutputPath: path } = manifest;
  if (path !== undefined && typeof path !== 'string') faults.add('OutputPath', 'must be a text');
  oneOf(manifest, 'LogLevel', faults);
}

/**
 * The manifest as it is kept: with what was `made` of it and what the service says of the job. By way of a map: a key
 * more on an object of many shapes costs two microseconds, and a manifest gets ten.
 */
function keptManifest(
  job: JobRequest,
  made: JsonObject,
  { context, faults }: { context: ManifestContext; faults: Faults },
): JsonObject {
  const members = new Map(Object.entries(job.manifest));
  for (const key of Object.keys(made)) members.set(key, made[key] as JsonValue);
  const own = (key: KeyOfKind<'own'>, value: string | undefined): void => {
    const given = members.get(key);
    if (given !== undefined && given !== '' && given !== value) {
      faults.add(key, 'is set by the service and differs from the token');
    }
    if (value === undefined) members.delete(key);
    else members.set(key, value);
  };
  own('Owner', context.user);
  own('OwnerGroup', context.group);
  own('OwnerDN', context.dn === '' ? undefined : context.dn);
  own('VirtualOrganization', context.vo);
  own('Setup', context.setup);
  for (const key of DROPPED) members.delete(key);
  const absent = (key: string, value: JsonValue): void => {
    if ((members.get(key) ?? null) === null) members.set(key, value);
  };
  absent('JobName', job.name);
  absent('JobGroup', job.jobGroup);
  absent('JobType', job.jobType);
  absent('Priority', job.priority);
  absent('CPUTime', job.cpuTime);
  return Object.fromEntries(members);
}

function label(
  manifest: JsonObject,
  key: KeyOfKind<'label'>,
  { faults, warnings }: { faults: Faults; warnings: ManifestWarning[] },
): string {
  const { fallback, most } = MANIFEST_KEYS[key];
  const value = manifest[key];
  if (value === undefined || value === '') return fallback;
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  if (typeof text !== 'string') {
    faults.add(key, 'must be a text');
    return fallback;
  }
  if (text.length > most) faults.add(key, `is longer than ${most} characters`);
  if (text.includes('%j')) {
    const detail = `%j stays as it is in ${key}, which is set before the job has its id`;
    warnings.push({ code: 'manifest.no-effect', detail, pointer: pointerTo(key) });
  }
  return text;
}

function flag(manifest: JsonObject, key: KeyOfKind<'flag'>, faults: Faults): boolean {
  const { [key]: value = false } = manifest;
  if (typeof value !== 'boolean') faults.add(key, 'must be true or false');
  return value === true;
}

function oneOf(manifest: JsonObject, key: KeyOfKind<'word'>, faults: Faults): string | undefined {
  const allowed: readonly string[] = MANIFEST_KEYS[key].words;
  const value = manifest[key];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && allowed.includes(value)) return value;
  faults.add(key, `must be one of ${allowed.join(', ')}`);
  return undefined;
}
