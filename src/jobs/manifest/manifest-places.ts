import type { JsonObject } from '#src/kernel/index.js';
import type { Faults } from './manifest-values.js';

const MAX_PATH = 1024;

/** Wanted and banned sites. Notes unknown ones, `Site` and `Sites` that differ, and bans that leave nothing. */
export function readSites(
  manifest: JsonObject,
  known: ReadonlySet<string>,
  faults: Faults,
): { sites: string[]; bannedSites: string[] } {
  const wanted = twoNames(manifest, ['Sites', 'Site'], faults);
  const bannedSites = twoNames(manifest, ['BannedSites', 'BannedSite'], faults);
  const sites = wanted.names.includes('ANY') ? [] : wanted.names;
  const unknown = (name: string): boolean => !known.has(name);
  for (const name of sites.filter(unknown)) faults.add(wanted.key, `${name}: is not a known site`);
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
    const differ = one.length !== two.length || one.some((name) => !two.includes(name));
    if (differ) faults.add(second, `differs from ${first}`);
  }
  return manifest[first] === undefined && manifest[second] !== undefined
    ? { key: second, names: two }
    : { key: first, names: one };
}

function clean(names: string[]): string[] {
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** Catalogue paths of InputData without `LFN:`. Notes every path that cannot be (reference 3.1). */
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
    const path = name.startsWith('LFN:/') ? name.slice(4) : name;
    const fault = pathFault(path, context.vo);
    if (fault === undefined) paths.push(path);
    else faults.add('InputData', `${name}: ${fault}`);
  }
  return paths;
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
