const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** Rows as CSV (RFC 4180). */
export function csvText(rows: readonly (readonly (string | number | undefined)[])[]): Blob {
  const lines = rows.map((row) => `${row.map((value) => cell(String(value ?? ''))).join(',')}\r\n`);
  return new Blob(lines, { type: 'text/csv' });
}

/** What a spreadsheet would take for a formula is text (an apostrophe stands before it). */
function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
