import { Option } from 'commander';
import { csvText, stringifyJson, type CsvCell } from '#src/kernel/index.js';
import { mayColour, painted } from './colour.js';
import type { CommandError } from './command-error.js';
import {
  emit,
  emitName,
  jsonText,
  printable,
  printableLines,
  say,
  tableCells,
  tell,
} from './output.js';

const FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
/** Of lists that people take into spreadsheets. */
const WITH_CSV = [...FORMATS, 'csv'] as const;

/** How a command is asked to print. */
export interface Printing {
  output: (typeof WITH_CSV)[number];
}

/** What a command has to show. */
export interface Shown {
  /** For programs, as JSON or YAML. */
  value: unknown;
  /** What other commands take, one a line. */
  names?: readonly string[];
  /** For people: lines, or a table whose last `wide` columns only `-o wide` shows. */
  lines?: readonly string[];
  table?: { heading: readonly string[]; rows: readonly string[][]; wide: number };
  /** For spreadsheets, of commands that offer it. */
  csv?: { heading: readonly string[]; rows: readonly (readonly CsvCell[])[] };
  /** Told on standard error, once it is printed. */
  notes?: readonly string[];
  /** How the command ends, once it is printed. */
  fault?: CommandError | false;
}

/** Columns by their headings: the member, or what is shown of an item. */
export type Columns<T> = Record<string, (keyof T & string) | ((item: T) => unknown)>;

/** `-o table|wide|json|yaml|name`, for some `csv`, too, and `--json`, which is the same as `-o json`. */
export function printing(hasCsv = false): Option[] {
  return [
    new Option('-o, --output <format>', 'how to print')
      .choices(hasCsv ? WITH_CSV : FORMATS)
      .default('table'),
    new Option('--json', 'the same as -o json').implies({ output: 'json' }),
  ];
}

/** True when programs read along: no bar, no words for people on standard output. */
export function isForPrograms({ output }: Printing): boolean {
  return output !== 'table' && output !== 'wide';
}

/** A list as a table, with columns that only `-o wide` shows. Names are those of the first column. */
export function listOf<T>(
  value: unknown,
  items: readonly T[],
  columns: Columns<T>,
  wide: Columns<T> = {},
): Shown {
  const cells = Object.values({ ...columns, ...wide });
  const rows = items.map((item) =>
    cells.map((cell) => textOf(typeof cell === 'function' ? cell(item) : item[cell])),
  );
  const heading = Object.keys({ ...columns, ...wide });
  const names = rows.map(([first = '']) => first);
  return { value, table: { heading, rows, wide: Object.keys(wide).length }, names };
}

/** A thing as lines `name: value`. */
export function thing(value: object, names: readonly string[] = []): Shown {
  return { value, lines: fieldsOf(value), names };
}

/** Lines `name: value`; members that have members are named with them, what is empty is left out. */
export function fieldsOf(value: object, before = ''): string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (typeof member === 'object' && member !== null && !Array.isArray(member)) {
      return fieldsOf(member, `${before}${name}.`);
    }
    const text = textOf(member);
    return text === '' ? [] : [`${before}${name}: ${text}`];
  });
}

/** A value as people read it: texts and lists of words as they are, all else as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  const isWords = Array.isArray(value) && value.every((one) => /^\S+$/.test(String(one)));
  const isPlain = isWords && value.every((one) => typeof one === 'string');
  return isPlain ? value.join(' ') : stringifyJson(value);
}

/** Writes what is shown in the format that was asked for. Throws its fault. */
export async function print({ output }: Printing, shown: Shown): Promise<void> {
  const { value, names = [], lines = [], table, csv, notes = [], fault } = shown;
  if (output === 'json') {
    emit(jsonText(value, 2));
  } else if (output === 'yaml') {
    const { yamlText } = await import('./yaml-text.js');
    emit(yamlText(value));
  } else if (output === 'name') {
    names.forEach(emitName);
  } else if (output === 'csv') {
    const text = csvText(csv?.heading ?? [], csv?.rows ?? []);
    process.stdout.write(printableLines(text, process.stdout.isTTY));
  } else {
    lines.forEach(say);
    if (table) sayTable(table, output === 'wide');
  }
  notes.forEach(tell);
  if (fault) throw fault;
}

/** Columns under headings; states stand in their colours where a person looks. */
function sayTable({ heading, rows, wide }: NonNullable<Shown['table']>, isWide: boolean): void {
  const isColoured = mayColour(process.stdout);
  const shown = isWide ? heading.length : heading.length - wide;
  const cut = (row: readonly string[]): string[] => row.slice(0, shown);
  const [first = [], ...others] = tableCells(cut(heading), rows.map(cut));
  say(first.join('  ').trimEnd());
  for (const [index, cells] of others.entries()) {
    const painting = cells.map((cell, column) => {
      const text = printable(cell);
      return isColoured && isState(heading[column]) ? painted(text, rows[index]?.[column]) : text;
    });
    emit(painting.join('  ').trimEnd());
  }
}

function isState(heading: string | undefined): boolean {
  return heading === 'STATUS' || heading === 'STATE';
}
