import { stringifyJson, type JsonValue } from '#src/kernel/index.js';

/** Writes a line on standard output. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes a value as JSON with `--json`, else the given lines. */
export function show(asJson: boolean | undefined, value: unknown, lines: () => string[]): void {
  if (asJson) say(stringifyJson(value, 2));
  else for (const line of lines()) say(line);
}

/** Rows as aligned columns with a heading. */
export function table(heading: string[], rows: string[][]): string[] {
  const all = [heading, ...rows];
  const widths = heading.map((_name, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  );
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** A value of an answer as a cell or word: texts and numbers as they are, the rest as JSON, absent as nothing. */
export function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') return stringifyJson(value);
  return String(value);
}
