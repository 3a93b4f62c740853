import { Option } from 'commander';
import { emit, jsonText, say, table } from './output.js';

const FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof FORMATS)[number];

/** What a command has to show; `names` are what other commands take, one a line. */
export interface Shown {
  value: unknown;
  heading: string[];
  rows: string[][];
  /** Columns that only `wide` shows, at the end. */
  wide?: number;
  names: string[];
}

/** `-o table|wide|json|yaml|name`. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('table');
}

/** Writes it in the format that was asked for. */
export async function present(format: OutputFormat, shown: Shown): Promise<void> {
  const { value, heading, rows, wide = 0, names } = shown;
  if (format === 'json') {
    emit(jsonText(value, 2));
  } else if (format === 'yaml') {
    const { stringify } = await import('yaml');
    // by way of JSON: what is unsafe on a terminal is escaped in texts in quotation marks
    emit(stringify(JSON.parse(jsonText(value)), { defaultStringType: 'QUOTE_DOUBLE' }).trimEnd());
  } else if (format === 'name') {
    names.forEach(say);
  } else {
    const cut = (row: string[]): string[] =>
      format === 'wide' ? row : row.slice(0, heading.length - wide);
    table(cut(heading), rows.map(cut)).forEach(say);
  }
}
