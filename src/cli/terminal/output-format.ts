import { Option } from 'commander';
import { mayColour, painted } from './colour.js';
import { emit, emitName, jsonText, printable, say, tableCells } from './output.js';

const FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof FORMATS)[number];

/** Options of a command that prints something. */
export interface Printing {
  output: OutputFormat;
  json?: boolean;
}

/** What a command has to show; `names` are what other commands take, one a line. */
export interface Shown {
  value: unknown;
  names: string[];
  heading: string[];
  rows: string[][];
  /** Columns that only `wide` shows, at the end. */
  wide?: number;
}

/** `-o table|wide|json|yaml|name`. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('table');
}

/** `--json`, which is the same as `-o json`. */
export function jsonOption(): Option {
  return new Option('--json', 'the same as -o json').implies({ output: 'json' });
}

/** True when programs read along: no bar, no words for people on standard output. */
export function isForPrograms({ output }: Printing): boolean {
  return output !== 'table' && output !== 'wide';
}

/** Writes a list in the format that was asked for. */
export async function present({ output }: Printing, shown: Shown): Promise<void> {
  const { value, heading, rows, wide = 0, names } = shown;
  if (await wasPrinted(output, value, names)) return;
  const cut = (row: string[]): string[] =>
    output === 'wide' ? row : row.slice(0, heading.length - wide);
  sayTable(cut(heading), rows.map(cut));
}

/** Writes one thing in the format that was asked for; the lines are for people. */
export async function show(
  { output }: Printing,
  value: unknown,
  lines: () => string[],
  names: string[] = [],
): Promise<void> {
  if (!(await wasPrinted(output, value, names))) for (const line of lines()) say(line);
}

async function wasPrinted(format: OutputFormat, value: unknown, names: string[]): Promise<boolean> {
  if (format === 'json') {
    emit(jsonText(value, 2));
  } else if (format === 'yaml') {
    const { yamlText } = await import('./yaml-text.js');
    emit(yamlText(value));
  } else if (format === 'name') {
    names.forEach(emitName);
  } else return false;
  return true;
}

/** Columns under headings; states stand in their colours where a person looks. */
function sayTable(heading: string[], rows: string[][]): void {
  const isColoured = mayColour(process.stdout);
  const [first = [], ...others] = tableCells(heading, rows);
  say(first.join('  ').trimEnd());
  for (const [index, cells] of others.entries()) {
    const shown = cells.map((cell, column) => {
      const text = printable(cell);
      return isColoured && isState(heading[column]) ? painted(text, rows[index]?.[column]) : text;
    });
    emit(shown.join('  ').trimEnd());
  }
}

function isState(heading: string | undefined): boolean {
  return heading === 'STATUS' || heading === 'STATE';
}
