/** What stands in a cell. */
export type CsvCell = string | number | bigint | boolean | null | undefined;

/** Rows as CSV below a heading (RFC 4180); nothing for what is not known. */
export function csvText(heading: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [heading, ...rows].map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');
}

/** A text that a spreadsheet would take for a formula stays text (an apostrophe stands before it). */
function cell(value: CsvCell): string {
  if (typeof value !== 'string') return value === undefined || value === null ? '' : String(value);
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
