import { isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml';
import { checkBy, type FaultTexts, type Misfit, type Schema } from '#src/config/index.js';

/** A file that cannot be used: each fault with its path in the file and, where known, its line. */
export class YamlFileError extends Error {
  constructor(
    readonly faults: readonly Misfit[],
    lineOf: (path: Misfit['path']) => number | undefined = () => undefined,
  ) {
    super(faults.map((fault) => faultText(fault, lineOf(fault.path))).join('\n'));
    this.name = new.target.name;
  }
}

/** What is said to people who write such files. */
const TEXTS: FaultTexts = {
  kinds: {
    object: 'must be a map of names',
    array: 'must be a list',
    string: 'must be text (put it in quotes)',
    boolean: 'must be true or false',
  },
  words: (words) => `must be one of ${words}`,
  unknown: (known) => `is not known here; known are ${known}`,
};

/** Text that is not blank and of which nothing else is wrong. */
export function text(fault: (text: string) => string | undefined = () => undefined): Schema {
  const fits = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return undefined;
    return value.trim() === '' ? TEXTS.kinds['string'] : fault(value);
  };
  return { type: 'string', fits };
}

/** Text of that form. */
export function formed(form: RegExp, problem: string): Schema {
  return text((value) => (form.test(value) ? undefined : problem));
}

/** A list; an empty value counts as an empty one. */
export function list(items: Schema): Schema {
  return { type: ['array', 'null'], items, ifNull: [] };
}

/** A map of these members alone; an empty value counts as an empty one, and what has a `default` is there in any case. */
export function map(properties: Record<string, Schema>, required: readonly string[] = []): Schema {
  return { ...anyMap, properties, required, additionalProperties: false };
}

/** A map of any members. */
export const anyMap: Schema = { type: ['object', 'null'], ifNull: {} };

/** One of the words. */
export function oneOf(words: readonly string[]): Schema {
  return { enum: words };
}

/** A whole number. */
export function count({ min = 1, max = 1_000_000 } = {}): Schema {
  const isCount = (value: unknown): boolean =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  const fits = (value: unknown): string | undefined =>
    isCount(value) ? undefined : `must be a whole number from ${min} to ${max}`;
  return { fits };
}

/** What must not be said here, and why. */
export function never(problem: string): Schema {
  return { fits: () => problem };
}

/** Values that were read elsewhere, by the rules and with the faults of a file. */
export function checkByFile(schema: Schema): (value: unknown) => Misfit[] {
  return checkBy(schema, TEXTS);
}

/** A file as one value, and the names of a map in it in the order of the file: an object has whole numbers first. */
interface YamlFile {
  value: unknown;
  namesOf: (section?: string) => string[];
}

/** Reads YAML text by the schema. Throws YamlFileError with every fault. */
export function readYaml(text: string, check: (value: unknown) => Misfit[]): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, stringKeys: true, uniqueKeys: true });
  const broken = document.errors.map(({ message }) => ({ path: [], problem: firstLine(message) }));
  if (broken.length > 0) throw new YamlFileError(broken);
  const [value, inOrder] = plainValues(document);
  const faults = check(value);
  if (faults.length > 0) throw new YamlFileError(faults, (path) => lineAt(document, lines, path));
  const namesOf = (section?: string): string[] => {
    const found = section === undefined ? inOrder : inOrder?.get(section);
    return found instanceof Map ? [...(found as Map<string, unknown>).keys()] : [];
  };
  return { value, namesOf };
}

function plainValues(document: Document): [unknown, Map<string, unknown> | null] {
  try {
    const options = { maxAliasCount: 100 };
    const inOrder: unknown = document.toJS({ ...options, mapAsMap: true });
    // What is written once and used twice becomes two values, since defaults are put into each.
    const value: unknown = JSON.parse(JSON.stringify(document.toJS(options) ?? {}));
    return [value, inOrder as Map<string, unknown> | null];
  } catch (error) {
    throw new YamlFileError([{ path: [], problem: (error as Error).message }]);
  }
}

/** The line of a path in the text, as far as the text has it; the text must be good YAML. */
export function linesOf(text: string): (path: Misfit['path']) => number | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  return (path) => lineAt(document, lines, path);
}

function lineAt(document: Document, lines: LineCounter, path: Misfit['path']): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const parent =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    const pair = isMap(parent)
      ? parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
      : undefined;
    const node = (pair?.key ?? document.getIn(path.slice(0, length), true)) as
      { range?: [number, number, number] | null } | undefined;
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}

function firstLine(message: string): string {
  const [line = message] = message.split('\n');
  const named = line.replace(/^With stringKeys, all keys must be strings/, 'A name must be text');
  return named.replace(/:$/, '');
}

function faultText({ path, problem }: Misfit, line: number | undefined): string {
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  const where = place.replace(/^\./, '') || 'file';
  return line === undefined ? `${where}: ${problem}` : `line ${line}: ${where}: ${problem}`;
}
