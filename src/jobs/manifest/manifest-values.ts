import type { JsonObject, JsonValue, Violation } from '#src/kernel/index.js';
import { MANIFEST_KEYS, type KeyOfKind } from './manifest-keys.js';

/** Collects every fault of a manifest instead of stopping at the first. */
export class Faults {
  readonly list: Violation[] = [];
  private readonly hints: Violation[] = [];

  add(field: string, problem: string, instead?: string): void {
    this.list.push({ field, problem, ...(instead !== undefined && { instead }) });
  }

  /** Is no fault, and told beside faults: who mends those need not come a second time. */
  hint(field: string, problem: string): void {
    this.hints.push({ field, problem });
  }

  /** Every fault, and the hints if there is one. */
  get all(): Violation[] {
    return this.list.length === 0 ? [] : [...this.list, ...this.hints];
  }

  /** The texts of a key that may be one text or a list of texts; empty when absent or wrong (which is noted). */
  texts(manifest: JsonObject, key: string): string[] {
    const value = manifest[key];
    if (value === undefined) return [];
    if (typeof value === 'string') return value === '' ? [] : [value];
    if (isTextList(value)) return value;
    this.add(key, 'must be a text or a list of texts');
    return [];
  }
}

/** Lists that people write as one text with commas, as in JDL. `InputData` is none: a path may have a comma. */
const COMMA_LISTS = [
  'OutputSandbox',
  'InputSandbox',
  'Sites',
  'Site',
  'BannedSites',
  'BannedSite',
  'Tags',
];

/** The manifest with lists where one text names several things; a text that is the name of an uploaded file is one. */
export function splitLists(manifest: JsonObject, files: readonly string[]): JsonObject {
  const lists = COMMA_LISTS.flatMap((key): [string, string[]][] => {
    const value = manifest[key];
    if (typeof value !== 'string' || !value.includes(',') || files.includes(value)) return [];
    const names = value.split(',').map((name) => name.trim());
    return [[key, names.filter((name) => name !== '')]];
  });
  return lists.length > 0 ? { ...manifest, ...Object.fromEntries(lists) } : manifest;
}

/** True for a list of texts. */
export function isTextList(value: JsonValue | undefined): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** A whole number of a manifest, also written as a text; undefined when absent or wrong (which is noted). */
export function wholeNumber(
  manifest: JsonObject,
  key: KeyOfKind<'integer'>,
  faults: Faults,
): number | undefined {
  const value = manifest[key];
  if (value === undefined) return undefined;
  const known: { min: number; max: number; unit?: string } = MANIFEST_KEYS[key];
  const { min, max, unit } = known;
  const isText = typeof value === 'string' && /^-?\d{1,15}$/.test(value.trim());
  const number = isText || typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) {
    faults.add(key, `must be a whole number${unit === undefined ? '' : ` of ${unit}`}`);
    return undefined;
  }
  if (number >= min && number <= max) return number;
  faults.add(key, `must be between ${min} and ${max}`);
  return undefined;
}
