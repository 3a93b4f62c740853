import type { JsonObject, JsonValue, Violation } from '#src/kernel/index.js';

/** A parametric manifest turned into its jobs, or what is wrong with it. */
export interface Expansion {
  manifests: JsonObject[];
  violations: Violation[];
}

interface Sequence {
  field: string;
  name: string | undefined;
  values: (string | number)[] | { count: number };
}

const PARAMETER_KEY = /^Parameter(s|Start|Step|Factor)(?:\.([\w-]+))?$/;
const PLACE_HOLDER = /%\(([\w-]+)\)s|%s|%n/g;

/** True when the manifest makes several jobs. */
export function isParametric(manifest: JsonObject): boolean {
  return Object.keys(manifest).some((key) => /^Parameters(\.[\w-]+)?$/.test(key));
}

/**
 * Expands `Parameters` (a count or a list, also as named sequences `Parameters.<name>`) into one manifest for each
 * value; place-holders `%s`, `%(name)s` and `%n` are replaced in all texts. At most `limit` jobs are made: the
 * count is checked before anything is expanded.
 */
export function expandParameters(manifest: JsonObject, limit: number): Expansion {
  const violations: Violation[] = [];
  const sequences = readSequences(manifest, violations);
  const counts = sequences.map(({ values }) => ('count' in values ? values.count : values.length));
  const count = counts[0] ?? 0;
  if (violations.length === 0 && counts.some((other) => other !== count)) {
    violations.push({ field: 'Parameters', problem: 'the named sequences differ in length' });
  }
  if (violations.length === 0 && count > limit) {
    const problem = `makes ${count} jobs, at most ${limit} are allowed in one request`;
    violations.push({ field: sequences[0]?.field ?? 'Parameters', problem });
  }
  if (violations.length > 0) return { manifests: [], violations };
  const template = withoutParameters(manifest);
  const tables = sequences.map(({ name, values }, index) => ({
    name,
    values: 'count' in values ? progression(manifest, sequences[index] as Sequence) : values,
  }));
  const manifests = Array.from({ length: count }, (_unused, index) =>
    substitute(template, (whole, name) => {
      if (whole === '%n') return String(index).padStart(String(count).length, '0');
      const value = tables.find((table) => table.name === name)?.values[index];
      return value === undefined ? whole : String(value);
    }),
  );
  return { manifests: manifests as JsonObject[], violations };
}

/** Replaces `%j` by the job's id in all texts. */
export function insertJobId(manifest: JsonObject, jid: number | bigint): JsonObject {
  return mapTexts(manifest, (text) => text.replaceAll('%j', String(jid))) as JsonObject;
}

function readSequences(manifest: JsonObject, violations: Violation[]): Sequence[] {
  const sequences: Sequence[] = [];
  for (const [field, value] of Object.entries(manifest)) {
    const match = PARAMETER_KEY.exec(field);
    if (!match) continue;
    if (match[1] === 's') {
      const values = readValues(value);
      if (typeof values === 'string') violations.push({ field, problem: values });
      else sequences.push({ field, name: match[2], values });
    } else if (typeof numberOf(value) !== 'number') {
      violations.push({ field, problem: 'must be a number' });
    }
  }
  return sequences;
}

function readValues(value: JsonValue | undefined): Sequence['values'] | string {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'must have at least one element';
    const plain = value.every((item) => ['string', 'number', 'bigint'].includes(typeof item));
    return plain ? value.map((item) => String(item as string)) : 'must hold texts and numbers only';
  }
  const count = numberOf(value);
  if (count === undefined || !Number.isInteger(count)) return 'must be a whole number or a list';
  return count >= 1 ? { count } : 'must be at least 1';
}

function progression(manifest: JsonObject, sequence: Sequence): number[] {
  const suffix = sequence.name === undefined ? '' : `.${sequence.name}`;
  const option = (key: string, fallback: number): number =>
    numberOf(manifest[`${key}${suffix}`]) ?? numberOf(manifest[key]) ?? fallback;
  const step = option('ParameterStep', 0);
  const factor = option('ParameterFactor', 1);
  const count = 'count' in sequence.values ? sequence.values.count : 0;
  const values: number[] = [];
  for (let value = option('ParameterStart', 1); values.length < count;) {
    values.push(value);
    value = value * factor + step;
  }
  return values;
}

function withoutParameters(manifest: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(manifest).filter(([key]) => !PARAMETER_KEY.test(key)));
}

function numberOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  return undefined;
}

function substitute(
  value: JsonValue,
  replace: (whole: string, name: string | undefined) => string,
): JsonValue {
  return mapTexts(value, (text) => text.replaceAll(PLACE_HOLDER, replace));
}

function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return value.includes('%') ? change(value) : value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, mapTexts(member, change)]),
  );
}
