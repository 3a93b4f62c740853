import type { JsonObject, JsonValue } from '#src/kernel/index.js';
import { relativePathFault } from './file-name.js';
import { inputPathFault, LFN } from './manifest-places.js';
import type { Faults } from './manifest-values.js';

/** A file of a job, or files by a pattern, that are stored and registered when its program has ended well. */
export interface OutputWish {
  /** Below the directory of the job, with `*` and `?`. */
  name: string;
  /** Where to, with a slash at the end for a directory; relative to `OutputPath`. Absent: as it is called. */
  path?: string;
  /** The storage element; absent: those of `OutputSE`. */
  se?: string;
}

/** Entries of `OutputData`. */
const MAX_OUTPUT_FILES = 1_000;
/** Digits of an id in a path: to storage services that compare letters, names of one length are no begin of each other. */
const JID_DIGITS = 12;
const MEMBERS = new Set(['name', 'path', 'se']);

/** What the rules of outputs depend on. */
export interface OutputContext {
  vo: string | undefined;
  /** Names of the storage elements that take files of the virtual organisation. */
  elements: ReadonlySet<string>;
}

/** Reads `OutputData`, `OutputPath` and `OutputSE`; the wishes in one form. Notes every fault. */
export function readOutputData(
  manifest: JsonObject,
  { vo, elements }: OutputContext,
  faults: Faults,
): OutputWish[] {
  const value = manifest['OutputData'];
  const list = Array.isArray(value) ? value : value === undefined || value === '' ? [] : [value];
  if (list.length > MAX_OUTPUT_FILES) {
    faults.add('OutputData', `has ${list.length} entries, at most ${MAX_OUTPUT_FILES} are allowed`);
    return [];
  }
  const wishes = list.flatMap((one) => readWish(one, faults) ?? []);
  for (const { name, path, se } of wishes) {
    const fault = nameFault(name) ?? pathFault(name, path, vo);
    if (fault !== undefined) faults.add('OutputData', `${name}: ${fault}`);
    if (se !== undefined && !elements.has(se))
      faults.add('OutputData', `${name}: ${noElement(se)}`);
  }
  const directory = outputDirectory({ OutputPath: '/', ...manifest }, 0) ?? '/';
  const names = new Map<string, string>();
  for (const wish of wishes.filter(({ name }) => !isPattern(name))) {
    const target = targetOf(directory, wish, wish.name);
    const other = names.get(target);
    if (other !== undefined)
      faults.add('OutputData', `${other} and ${wish.name} would be one file`);
    names.set(target, wish.name);
  }
  readPlace(manifest, { vo, elements }, faults);
  return wishes;
}

function readPlace(manifest: JsonObject, { vo, elements }: OutputContext, faults: Faults): void {
  const path = manifest['OutputPath'];
  if (path !== undefined && path !== '') {
    const plain = typeof path === 'string' ? path.replace(/\/$/, '') : '';
    const fault = inputPathFault(`${plain}/x`, vo);
    if (plain !== '' && fault !== undefined) faults.add('OutputPath', fault);
  }
  const ses = manifest['OutputSE'] ?? [];
  for (const se of Array.isArray(ses) ? ses : [ses]) {
    if (typeof se === 'string' && !elements.has(se)) faults.add('OutputSE', noElement(se));
  }
}

function noElement(se: string): string {
  return `${se} is no storage element with an address that takes files of the virtual organisation`;
}

function readWish(one: JsonValue, faults: Faults): OutputWish | undefined {
  if (typeof one === 'string') {
    // As DIRAC writes it: the last name is that of the file.
    const path = LFN.test(one) ? one.slice(4) : undefined;
    return path === undefined
      ? { name: one }
      : { name: path.slice(path.lastIndexOf('/') + 1), path };
  }
  const members = typeof one === 'object' && one !== null && !Array.isArray(one) ? one : {};
  const unknown = Object.keys(members).find((name) => !MEMBERS.has(name));
  const { name, path, se } = members;
  const isWish =
    typeof name === 'string' &&
    (path === undefined || typeof path === 'string') &&
    (se === undefined || typeof se === 'string');
  if (!isWish || unknown !== undefined) {
    faults.add('OutputData', 'must be texts, or objects with name, path and se');
    return undefined;
  }
  return { name, ...(path !== undefined && { path }), ...(se !== undefined && { se }) };
}

function nameFault(name: string): string | undefined {
  if (/^\.?\/*$/.test(name) || name.endsWith('/')) return 'is not the name of a file';
  return (
    relativePathFault(name) ?? (hasDot(name.replace(/^(\.\/)+/, '')) ? 'contains .' : undefined)
  );
}

function hasDot(path: string): boolean {
  return path.split('/').includes('.');
}

function pathFault(
  name: string,
  path: string | undefined,
  vo: string | undefined,
): string | undefined {
  if (path === undefined) return undefined;
  if (isPattern(name) && !path.endsWith('/'))
    return 'is a pattern, so path must be a directory, with / at the end';
  const plain = path.replace(/\/$/, '');
  if (path.startsWith('/')) return inputPathFault(`${plain}/x`, vo);
  return relativePathFault(plain) ?? (hasDot(plain) ? 'contains .' : undefined);
}

/** True for a name with `*` or `?`. */
export function isPattern(name: string): boolean {
  return /[*?]/.test(name);
}

/** The wishes of a manifest that was checked when it was submitted; none where nothing could be stored then. */
export function outputWishes({ OutputData: value }: JsonObject): OutputWish[] {
  const list = Array.isArray(value) ? value : [];
  return list.flatMap((one) =>
    typeof one === 'object' && one !== null && 'name' in one ? [one as unknown as OutputWish] : [],
  );
}

/** The directory of a user, `/<vo>/user/<initial>/<name>`. */
function homeOf(vo: string, user: string): string {
  return `/${vo}/user/${[...user][0] ?? ''}/${user}`;
}

/** The directory below which a job stores its files; undefined for one that does not say it and has no virtual organisation. */
export function outputDirectory(manifest: JsonObject, jid: number | bigint): string | undefined {
  const { OutputPath: given, VirtualOrganization: vo, Owner: owner } = manifest;
  if (typeof given === 'string' && given !== '') return given.replace(/\/$/, '');
  if (typeof vo !== 'string' || typeof owner !== 'string') return undefined;
  return `${homeOf(vo, owner)}/${String(jid).padStart(JID_DIGITS, '0')}`;
}

/** Where the first file of a job goes; undefined where that depends on the id of the job. */
export function fixedTarget(manifest: JsonObject): string | undefined {
  const [wish] = outputWishes(manifest);
  const [directory, other] = [1, 2].map((jid) => outputDirectory(manifest, jid) ?? '');
  if (!wish || directory === undefined) return undefined;
  const target = targetOf(directory, wish, wish.name);
  const isFixed = !target.includes('%j') && target === targetOf(other ?? '', wish, wish.name);
  return isFixed ? target : undefined;
}

/** The path in the catalogue of a file of this name, which a wish is about. */
export function targetOf(directory: string, { path }: OutputWish, name: string): string {
  const plain = name.replace(/^(\.\/)+/, '');
  const last = plain.slice(plain.lastIndexOf('/') + 1);
  const target = path === undefined ? plain : path.endsWith('/') ? `${path}${last}` : path;
  return target.startsWith('/') ? target : `${directory}/${target}`;
}
