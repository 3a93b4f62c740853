import type { JsonObject } from '#src/kernel/index.js';
import { pointerTo, type ManifestWarning } from './manifest-warning.js';
import type { Faults } from './manifest-values.js';

const MAX_PATH = 1024;
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
    const fault = pathFault(path, context.vo);
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

function pathFault(path: string, vo: string | undefined): string | undefined {
  if (!path.startsWith('/')) return 'must start with / or LFN:/';
  if (path.includes('//')) return 'contains //';
  if (path.split('/').some((part) => part === '.' || part === '..')) return 'contains . or ..';
  if (path.endsWith('/')) return 'is not the path of a file';
  if (Buffer.byteLength(path) > MAX_PATH) return `is longer than ${MAX_PATH} bytes`;
  if (vo !== undefined && !path.startsWith(`/${vo}/`)) return `must lie under /${vo}/`;
  return undefined;
}
