import { stringifyJson } from '#src/kernel/index.js';
import type { JsonObject, JsonValue, Violation } from '#src/kernel/index.js';
import { splitArguments } from './arguments.js';
import { decimalOf, decimalSteps, numberOfDecimal, type Decimal } from './decimal.js';
import { PARAMETER_KEY } from './manifest-keys.js';

/** Place-holder (`%s`, `%n`, `%(name)s`) → the text that stands there in one job. */
export type PlaceValues = Readonly<Record<string, string>>;

/** A parametric manifest: what its jobs have in common, and their number. */
export interface ManifestTemplate {
  /** The manifest without `Parameters…`, with its place-holders. */
  manifest: JsonObject;
  count: number;
  /**
   * The sequences whose numbers grow beyond what a number can be. It may be long: between the faults nothing is
   * yielded now and then, for whoever wants to let others have their turn.
   */
  overflows(): Generator<Violation | undefined>;
  /** What stands for the place-holders that occur, job by job; made one after the other. */
  values(): Generator<PlaceValues>;
  /** Place-holders `%(name)s` for which there are no values, so that they stay. */
  unknown: string[];
  /** The sequences of several numbers that are all the same. */
  constant: { field: string; holder: string }[];
  /** Bytes of the JSON text of the manifest with these values, without making it. */
  bytesWith(values: PlaceValues): number;
}

type Texts = (string | number)[] | { count: number };

interface Sequence {
  field: string;
  /** Undefined for the one without a name. */
  name: string | undefined;
  texts: Texts;
}

/** Decimal digits that every double has exactly; what a multiplication of decimals makes behind them is no part of it. */
const EXACT_DIGITS = 15;
const TOO_MANY_DIGITS = `start, step and factor have at most ${EXACT_DIGITS} digits each where one of them has decimals and there is a factor: write the values as a list of texts`;
/** Numbers that are looked at in one go. */
const NUMBERS_AT_ONCE = 10_000;

/** What splits a text into words, is taken away in doing so, or is nothing. */
const SPECIAL_IN_WORDS = /^$|[\s'"\\]/;
/** Stands for a value that is no other text's. */
const MARK = '\u{f8ff}';

const PLACE_HOLDER = /%\(([\w-]+)\)s|%s|%n/g;

/** True when the manifest says of which values its jobs are made. */
export function isParametric(manifest: JsonObject): boolean {
  return Object.keys(manifest).some((key) => PARAMETER_KEY.test(key));
}

/**
 * Reads `Parameters` (a count or a list, also as named sequences `Parameters.<name>`): one job for each value;
 * place-holders `%s`, `%(name)s` and `%n` stand for it in all texts. At most `limit` jobs. Nothing is expanded here.
 */
export function readTemplate(
  manifest: JsonObject,
  limit: number,
): { template: ManifestTemplate } | { violations: Violation[] } {
  const violations: Violation[] = [];
  const sequences = readSequences(manifest, violations);
  const counts = sequences.map(({ texts }) => ('count' in texts ? texts.count : texts.length));
  const count = counts[0] ?? 0;
  if (violations.length === 0 && counts.some((other) => other !== count)) {
    violations.push({ field: 'Parameters', problem: 'the named sequences differ in length' });
  }
  if (violations.length === 0 && count > limit) {
    const problem = `makes ${count} jobs, at most ${limit} are allowed in one request`;
    violations.push({ field: sequences[0]?.field ?? 'Parameters', problem });
  }
  if (violations.length > 0) return { violations };
  const shared = withoutParameters(manifest);
  const uses = usesOf(shared);
  const fixed = [...uses].reduce(
    (bytes, [holder, times]) => bytes - holder.length * times,
    Buffer.byteLength(stringifyJson(shared)),
  );
  const bytesWith = (values: PlaceValues): number =>
    Object.entries(values).reduce(
      (bytes, [holder, text]) => bytes + bytesInJson(text) * (uses.get(holder) ?? 0),
      fixed + heldBytes(uses, values),
    );
  const used = sequences.filter(({ name }) => uses.has(holderOf(name)));
  const constant = used
    .filter(({ name, texts }) => 'count' in texts && isConstant(progressionOf(manifest, name)))
    .map(({ field, name }) => ({ field, holder: holderOf(name) }));
  const values = (): Generator<PlaceValues> => valuesOf(manifest, count, used, uses.has('%n'));
  const overflows = (): Generator<Violation | undefined> => overflowsOf(manifest, sequences);
  const names = new Set(['%s', '%n', ...sequences.map(({ name }) => holderOf(name))]);
  const unknown = [...uses.keys()].filter((holder) => !names.has(holder));
  return { template: { manifest: shared, count, overflows, values, unknown, constant, bytesWith } };
}

/** Puts the values of one job into all texts. A place-holder without a value stays as it is. */
export function fillTemplate(manifest: JsonObject, values: PlaceValues): JsonObject {
  const replace = (holder: string): string =>
    Object.hasOwn(values, holder) ? (values[holder] as string) : holder;
  return mapTexts(manifest, (text) => text.replaceAll(PLACE_HOLDER, replace)) as JsonObject;
}

/**
 * The first of the values that `Arguments`, where it is one text, does not keep whole: it becomes several words or none, loses
 * quotes or backslashes, or has a quote or backslash without its end.
 */
export function brokenValue(
  { manifest }: Pick<ManifestTemplate, 'manifest'>,
  values: PlaceValues,
): { value: string; hasNoEnd: boolean } | undefined {
  const text = manifest['Arguments'];
  if (typeof text !== 'string') return undefined;
  for (const [holder, value] of Object.entries(values)) {
    if (!SPECIAL_IN_WORDS.test(value) || !text.includes(holder)) continue;
    const kept = wordsOf(text.replaceAll(holder, MARK))?.map((it) =>
      it.replaceAll(MARK, () => value),
    );
    const words = wordsOf(text.replaceAll(holder, () => value));
    // A text that has such a fault by itself is another fault.
    if (kept === undefined) return undefined;
    if (words === undefined) return { value, hasNoEnd: true };
    if (words.join('\0') !== kept.join('\0')) return { value, hasNoEnd: false };
  }
  return undefined;
}

function wordsOf(text: string): string[] | undefined {
  try {
    return splitArguments(text);
  } catch {
    return undefined;
  }
}

/** Replaces `%j` by the job's id in all texts. */
export function insertJobId(manifest: JsonObject, jid: number | bigint): JsonObject {
  return mapTexts(manifest, (text) => text.replaceAll('%j', String(jid))) as JsonObject;
}

function* valuesOf(
  manifest: JsonObject,
  count: number,
  sequences: readonly Sequence[],
  isNumbered: boolean,
): Generator<PlaceValues> {
  const tables = sequences.map(({ name, texts }) => ({
    holder: holderOf(name),
    next:
      'count' in texts ? numbersOf(progressionOf(manifest, name)) : (index: number) => texts[index],
  }));
  for (let index = 0; index < count; index += 1) {
    const values: Record<string, string> = {};
    if (isNumbered) values['%n'] = String(index).padStart(String(count).length, '0');
    for (const { holder, next } of tables) values[holder] = String(next(index));
    yield values;
  }
}

function readSequences(manifest: JsonObject, violations: Violation[]): Sequence[] {
  const sequences: Sequence[] = [];
  for (const [field, value] of Object.entries(manifest)) {
    const match = PARAMETER_KEY.exec(field);
    if (!match) continue;
    if (match[1] === 's') {
      const texts = readTexts(value);
      if (typeof texts === 'string') violations.push({ field, problem: texts });
      else sequences.push({ field, name: match[2], texts });
    } else if (typeof numberOf(value) !== 'number') {
      violations.push({
        field,
        problem: 'must be a number of at most 50 digits before and behind the point',
      });
    }
  }
  violations.push(...withoutSequence(manifest));
  return sequences;
}

/** `ParameterStart` and its kind need the sequence of their name, without a name any. There may be thousands. */
function withoutSequence(manifest: JsonObject): Violation[] {
  const violations: Violation[] = [];
  for (const field of Object.keys(manifest)) {
    const [, kind, name] = PARAMETER_KEY.exec(field) ?? [];
    if (kind === undefined || kind === 's') continue;
    if (name === undefined ? hasSequence(manifest) : Object.hasOwn(manifest, `Parameters.${name}`))
      continue;
    const wanted = name === undefined ? 'Parameters' : `Parameters.${name}`;
    violations.push({ field, problem: `needs ${wanted}` });
  }
  return violations;
}

function hasSequence(manifest: JsonObject): boolean {
  return Object.keys(manifest).some((key) => PARAMETER_KEY.exec(key)?.[1] === 's');
}

function readTexts(value: JsonValue | undefined): Texts | string {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'must have at least one element';
    const plain = value.every((item) => ['string', 'number', 'bigint'].includes(typeof item));
    return plain ? value.map((item) => String(item as string)) : 'must hold texts and numbers only';
  }
  const count = numberOf(value);
  if (count === undefined || !Number.isInteger(count)) return 'must be a whole number or a list';
  return count >= 1 ? { count } : 'must be at least 1';
}

interface Progression {
  start: Decimal;
  step: Decimal;
  factor: Decimal;
}

function progressionOf(manifest: JsonObject, name: string | undefined): Progression {
  const suffix = name === undefined ? '' : `.${name}`;
  const option = (key: string, fallback: number): Decimal =>
    decimalOf(numeral(manifest[`${key}${suffix}`]) ?? numeral(manifest[key]) ?? fallback);
  return {
    start: option('ParameterStart', 1),
    step: option('ParameterStep', 0),
    factor: option('ParameterFactor', 1),
  };
}

/** The numbers of a sequence that is given as a count, each from the one before. */
function numbersOf({ start, step, factor }: Progression): () => string {
  const steps = isOne(factor)
    ? decimalSteps(start, step)
    : [start, step, factor].every((one) => one.behind === 0)
      ? wholeProducts(start.digits, step.digits, factor.digits)
      : decimalProducts(numberOfDecimal(start), numberOfDecimal(step), numberOfDecimal(factor));
  return () => steps.next().value as string;
}

function* wholeProducts(start: bigint, step: bigint, factor: bigint): Generator<string> {
  for (let value = start; ; value = value * factor + step) yield String(value);
}

/** A product has as many decimals as both its factors: those beyond what a double holds are left out. */
function* decimalProducts(start: number, step: number, factor: number): Generator<string> {
  for (let value = start; ; value = value * factor + step) {
    yield String(Number.isSafeInteger(value) ? value : Number(value.toPrecision(EXACT_DIGITS)));
  }
}

/** Whether a sequence that is multiplied, with decimals, has numbers that a double does not hold. */
function losesDigits({ start, step, factor }: Progression): boolean {
  const all = [start, step, factor];
  if (isOne(factor) || all.every(({ behind }) => behind === 0)) return false;
  return all.some(
    ({ digits }) => String(digits).replace(/^-|(?<!0)0+$/g, '').length > EXACT_DIGITS,
  );
}

function isConstant({ step, factor }: Progression): boolean {
  return step.digits === 0n && isOne(factor);
}

function isOne({ digits, behind }: Decimal): boolean {
  return digits === 1n && behind === 0;
}

function* overflowsOf(
  manifest: JsonObject,
  sequences: readonly Sequence[],
): Generator<Violation | undefined> {
  let looked = 0;
  for (const { field, name, texts } of sequences) {
    if (!('count' in texts)) continue;
    const progression = progressionOf(manifest, name);
    if (losesDigits(progression)) yield { field, problem: TOO_MANY_DIGITS };
    const overflow = overflowAt(numbersOf(progression), texts.count);
    if (overflow !== undefined) {
      const problem = `the number of job ${overflow} is too large, see its factor and step`;
      yield { field, problem };
    }
    looked += texts.count;
    if (looked < NUMBERS_AT_ONCE) continue;
    looked = 0;
    yield undefined;
  }
}

/** Which of the numbers is the first that is none. */
function overflowAt(next: () => string, count: number): number | undefined {
  for (let index = 0; index < count; index += 1) if (!Number.isFinite(Number(next()))) return index;
  return undefined;
}

function holderOf(name: string | undefined): string {
  return name === undefined ? '%s' : `%(${name})s`;
}

/** How often each place-holder occurs. */
function usesOf(manifest: JsonObject): Map<string, number> {
  const uses = new Map<string, number>();
  mapTexts(manifest, (text) => {
    for (const [holder] of text.matchAll(PLACE_HOLDER)) {
      uses.set(holder, (uses.get(holder) ?? 0) + 1);
    }
    return text;
  });
  return uses;
}

/** Bytes of the place-holders that nothing stands for, and which therefore stay. */
function heldBytes(uses: ReadonlyMap<string, number>, values: PlaceValues): number {
  let bytes = 0;
  for (const [holder, times] of uses) {
    if (!Object.hasOwn(values, holder)) bytes += holder.length * times;
  }
  return bytes;
}

function bytesInJson(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

function withoutParameters(manifest: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(manifest).filter(([key]) => !PARAMETER_KEY.test(key)));
}

function numberOf(value: JsonValue | undefined): number | undefined {
  const read = numeral(value);
  return read === undefined ? undefined : Number(read);
}

/** A number, or a text that writes one, with all its digits. */
function numeral(value: JsonValue | undefined): number | string | undefined {
  if (typeof value === 'number') return value;
  const text = typeof value === 'bigint' ? String(value) : value;
  return typeof text === 'string' && /^-?\d{1,50}(\.\d{1,50})?(e[+-]?\d{1,3})?$/i.test(text)
    ? text
    : undefined;
}

function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return value.includes('%') ? change(value) : value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, mapTexts(member, change)]),
  );
}
