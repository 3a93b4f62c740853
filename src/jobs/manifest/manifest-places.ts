import type { JsonObject } from '#src/kernel/index.js';
import { pointerTo, type ManifestWarning } from './manifest-warning.js';
import { Faults } from './manifest-values.js';

const MAX_PATH = 1024;
/** Begin of a file of the catalogue among those of the sandbox. */
export const LFN = /^LFN:/i;
/** What was checked when it was submitted. */
const ANY = { vo: undefined, maxInputData: Number.MAX_SAFE_INTEGER };
const SITE_NAME = /^[^\s/,\p{Cc}]{1,128}$/u;

/**
 * Wanted and banned sites. Warns of wanted ones that are not known: they may come yet. A ban that is not known is
 * a fault, since a misspelt one would let the job run where it must not; so are `Site` and `Sites` that differ, and bans
 * that leave nothing.
 */
export function readSites(
  manifest: JsonObject,
  known: ReadonlySet<string>,
  { faults, warnings }: { faults: Faults; warnings: ManifestWarning[] },
): { sites: string[]; bannedSites: string[] } {
  const wanted = twoNames(manifest, ['Sites', 'Site'], faults);
  const bannedSites = twoNames(manifest, ['BannedSites', 'BannedSite'], faults);
  const sites = wanted.names.includes('ANY') ? [] : wanted.names;
  const unknown = (name: string): boolean => !known.has(name);
  for (const name of sites.filter(unknown)) {
    if (!SITE_NAME.test(name)) {
      faults.add(wanted.key, `${name}: is not the name of a site`);
      continue;
    }
    const detail = `${name} is not a known site; the job does not run there`;
    warnings.push({ code: 'manifest.unknown-site', detail, pointer: pointerTo(wanted.key) });
  }
  for (const name of bannedSites.names.filter(unknown)) {
    faults.add(bannedSites.key, `${name}: is not a known site`);
  }
  const banned = new Set(bannedSites.names);
  const candidates = sites.length > 0 ? sites : [...known];
  const left = candidates.filter((name) => !banned.has(name));
  if (left.length === 0 && banned.size > 0) {
    faults.add(bannedSites.key, 'leaves no site on which the job may run');
  }
  const allowed = sites.length > 0 ? left : sites;
  return { sites: [...new Set(allowed)], bannedSites: [...banned] };
}

function twoNames(
  manifest: JsonObject,
  [first, second]: [string, string],
  faults: Faults,
): { key: string; names: string[] } {
  const one = clean(faults.texts(manifest, first));
  const two = clean(faults.texts(manifest, second));
  if (manifest[first] !== undefined && manifest[second] !== undefined) {
    const others = new Set(two);
    const differ = one.length !== two.length || one.some((name) => !others.has(name));
    if (differ) faults.add(second, `differs from ${first}`);
  }
  return manifest[first] === undefined && manifest[second] !== undefined
    ? { key: second, names: two }
    : { key: first, names: one };
}

function clean(names: string[]): string[] {
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** Spellings of DIRAC's manifests and of its `Job.setInputDataPolicy`, in small letters. */
const POLICIES: Readonly<Record<string, InputDataPolicy>> = {
  download: 'download',
  'dirac.workloadmanagementsystem.client.downloadinputdata': 'download',
  url: 'url',
  protocol: 'url',
  'dirac.workloadmanagementsystem.client.inputdatabyprotocol': 'url',
};

/**
 * Among the tags that a job wants of its site to which files of the catalogue are to be brought. No site can declare it, as it is no
 * tag: those whose jobs workers run have it by their nature.
 */
export const DATA_TAG = '@data';

/** What becomes of the files of `InputData`. */
export type InputDataPolicy = 'download' | 'url';

/** Reads `InputDataPolicy`; undefined when absent or wrong (which is noted). */
export function readInputDataPolicy(
  { InputDataPolicy: value }: JsonObject,
  faults: Faults,
): InputDataPolicy | undefined {
  if (value === undefined || value === '') return undefined;
  const name = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const policy = Object.hasOwn(POLICIES, name) ? POLICIES[name] : undefined;
  if (policy === undefined) faults.add('InputDataPolicy', 'must be one of download, url');
  return policy;
}

/** True for a job into whose directory files of the catalogue are brought before it starts. */
export function fetchesFiles(manifest: JsonObject): boolean {
  const { InputSandbox: sandbox = [], InputData: data = [], InputDataPolicy: policy } = manifest;
  const names = Array.isArray(sandbox) ? sandbox : [sandbox];
  const isInput =
    policy === 'download' && data !== '' && !(Array.isArray(data) && data.length === 0);
  return isInput || names.some((name) => typeof name === 'string' && LFN.test(name));
}

/** Catalogue paths of files that are brought into the directory of a job, each once: of its sandbox, and of `InputData`. */
export function fetchedPaths(manifest: JsonObject): { sandbox: string[]; inputData: string[] } {
  const nothing = new Faults();
  const names = nothing.texts(manifest, 'InputSandbox').filter((name) => LFN.test(name));
  const sandbox = names.map((name) => name.slice(4).trim());
  const inputData =
    manifest['InputDataPolicy'] === 'download' ? readInputData(manifest, ANY, nothing) : [];
  return { sandbox: [...new Set(sandbox)], inputData: [...new Set(inputData)] };
}

/**
 * The name that each file of the catalogue has in the directory of a run into which it is fetched: its last one, or its path where
 * that is taken.
 */
export function fetchedNames(manifest: JsonObject): Map<string, string> {
  const { sandbox, inputData } = fetchedPaths(manifest);
  const paths = [...new Set([...sandbox, ...inputData])];
  const names = paths.map((path) => path.slice(path.lastIndexOf('/') + 1));
  const texts = (key: string): string[] => new Faults().texts(manifest, key);
  const own = ['InputSandbox', 'StdOutput', 'StdError'].flatMap(texts);
  // A file must not stand where the directory of another one is to be.
  const tops = paths.map((path) => path.split('/')[1] ?? '');
  const taken = new Set([...own, ...tops, INPUT_DATA_FILE]);
  const count = new Map<string, number>();
  for (const name of names) count.set(name, (count.get(name) ?? 0) + 1);
  return new Map(
    paths.map((path, place) => {
      const name = names[place] ?? '';
      return [path, count.get(name) === 1 && !taken.has(name) ? name : path.slice(1)];
    }),
  );
}

/** Name of the file in the directory of a job that says where its input data lies, as DIRAC calls it. */
export const INPUT_DATA_FILE = 'dirac_job_input.json';

/** Catalogue paths of InputData without `LFN:`. Notes every path that cannot be. */
export function readInputData(
  manifest: JsonObject,
  context: { vo: string | undefined; maxInputData: number },
  faults: Faults,
): string[] {
  const listed = clean(faults.texts(manifest, 'InputData'));
  if (listed.length > context.maxInputData) {
    faults.add(
      'InputData',
      `has ${listed.length} files, at most ${context.maxInputData} are allowed`,
    );
    return [];
  }
  const paths: string[] = [];
  for (const name of listed) {
    const path = cataloguePath(name);
    const fault = inputPathFault(path, context.vo);
    if (fault === undefined) paths.push(path);
    else faults.add('InputData', `${name}: ${fault}`);
  }
  return paths;
}

/** A path of the catalogue as the manifest writes it, without `LFN:`. */
export function cataloguePath(text: string): string {
  const name = text.trim();
  return name.startsWith('LFN:/') ? name.slice(4) : name;
}

/** Why the path is none of a file of the virtual organisation; undefined when it is one. */
export function inputPathFault(path: string, vo: string | undefined): string | undefined {
  if (!path.startsWith('/')) return 'must start with / or LFN:/';
  if (path.includes('//')) return 'contains //';
  if (path.split('/').some((part) => part === '.' || part === '..')) return 'contains . or ..';
  if (path.endsWith('/')) return 'is not the path of a file';
  if (Buffer.byteLength(path) > MAX_PATH) return `is longer than ${MAX_PATH} bytes`;
  if (vo !== undefined && !path.startsWith(`/${vo}/`)) return `must lie under /${vo}/`;
  return undefined;
}
