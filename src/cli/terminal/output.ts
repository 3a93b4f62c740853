import { stringifyJson } from '#src/kernel/index.js';

/**
 * What must not reach a terminal from a text of somebody else: control characters (C0, DEL, C1, so every escape
 * sequence), line separators, and what turns the direction of writing.
 */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The text as it may be shown to people: one `?` for each unsafe character, so that columns stay aligned. */
export function printable(text: string): string {
  return text.replace(UNSAFE, '?');
}

/** The name as a file may be called here: unsafe characters as %XX of their bytes. */
export function safeFileName(name: string): string {
  return name.replace(UNSAFE, (character) =>
    Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&'),
  );
}

/** A name that programs take: as it is, but at a terminal with `\uXXXX` for each unsafe character. */
export function nameText(name: string, isTerminal: boolean): string {
  return isTerminal ? name.replace(UNSAFE, escaped) : name;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** JSON of the value in which nothing is unsafe on a terminal either; it means the same. */
export function jsonText(value: unknown, indent?: number): string {
  return stringifyJson(value, indent).replace(UNSAFE, (character) =>
    character === '\n' ? character : escaped(character),
  );
}

/**
 * Text of lines as it may be shown: at a terminal nothing acts on it but tabs and the ends of lines, elsewhere it is as it
 * is.
 */
export function printableLines(text: string, isTerminal: boolean): string {
  if (!isTerminal) return text;
  return text.replaceAll('\r\n', '\n').replace(/[^\n\t]+/g, printable);
}

/** Writes a line for people on standard output. */
export function say(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** Writes a line for people on standard error. */
export function tell(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/** Writes what programs read, as it is, on standard output. */
export function emit(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes a name that programs take on standard output. */
export function emitName(name: string): void {
  emit(nameText(name, process.stdout.isTTY));
}

/** Rows as aligned columns with a heading. */
export function table(heading: readonly string[], rows: readonly string[][]): string[] {
  return tableCells(heading, rows).map((row) => row.join('  ').trimEnd());
}

/** The heading and the rows with cells of one width a column. */
export function tableCells(heading: readonly string[], rows: readonly string[][]): string[][] {
  const all = [heading, ...rows];
  const widths = heading.map((_name, column) =>
    all.reduce((most, row) => Math.max(most, (row[column] ?? '').length), 0),
  );
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
}

const UNITS: [text: string, seconds: number][] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];

/** Seconds as people say them, in the largest unit that fits: `3h`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [unit, size] = UNITS.find(([, of]) => whole >= of) ?? ['s', 1];
  return `${Math.floor(whole / size)}${unit}`;
}
