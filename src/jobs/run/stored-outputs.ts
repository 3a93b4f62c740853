import {
  isPattern,
  outputDirectory,
  outputWishes,
  targetOf,
  type OutputWish,
} from '../manifest/output-data.js';
import type { RunOrder } from './executor.js';
import { matchesPattern } from './name-pattern.js';

type Order = Pick<RunOrder, 'jid' | 'manifest'>;

/** Where a file is stored. */
export interface OutputPlace {
  /** In the catalogue. */
  path: string;
  /** Storage elements, in the order in which they are tried; absent: all. */
  ses?: string[];
}

/** True for a job whose files are stored when its program has ended well. */
export function storesOutputs({ manifest }: Pick<RunOrder, 'manifest'>): boolean {
  return outputWishes(manifest).length > 0;
}

/** Where files of the job are stored, by their names; undefined for those that are not. A name goes before a pattern. */
export function outputPlaces({ jid, manifest }: Order): (name: string) => OutputPlace | undefined {
  const directory = outputDirectory(manifest, jid);
  const wishes = outputWishes(manifest);
  const exact = new Map(wishes.map((wish) => [plain(wish.name), wish]));
  const patterns = wishes.filter(({ name }) => isPattern(name));
  const given = manifest['OutputSE'] ?? [];
  const texts = (Array.isArray(given) ? given : [given]).filter(
    (se) => typeof se === 'string' && se !== '',
  ) as string[];
  return (name) => {
    const wish = exact.get(name) ?? patterns.find((one) => isWish(one, name));
    if (!wish || directory === undefined) return undefined;
    const ses = wish.se === undefined ? texts : [wish.se];
    return { path: targetOf(directory, wish, name), ...(ses.length > 0 && { ses }) };
  };
}

/** Names and patterns of the files that are stored. */
export function storedNames({ manifest }: Pick<RunOrder, 'manifest'>): string[] {
  return outputWishes(manifest).map(({ name }) => plain(name));
}

/** Paths of the files without which the job is not Done: those that are named, and not by a pattern. */
export function demandedPaths(order: Order): string[] {
  const placeOf = outputPlaces(order);
  const names = storedNames(order).filter((name) => !isPattern(name));
  return names.flatMap((name) => placeOf(name)?.path ?? []);
}

function isWish({ name: wanted }: OutputWish, name: string): boolean {
  const [patterns, parts] = [plain(wanted).split('/'), name.split('/')];
  if (patterns.length !== parts.length || parts.some((part) => DOTS.has(part))) return false;
  return patterns.every((pattern, place) => matchesPattern(parts[place] ?? '', pattern));
}

const DOTS = new Set(['.', '..', '']);

function plain(name: string): string {
  return name.replace(/^(\.\/)+/, '');
}
