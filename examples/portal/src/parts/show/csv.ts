/** More rows are cut off, and said so. */
export const MOST_ROWS = 500;

/** Rows of a file whose cells stand between commas, semicolons or tabs, whichever its first line has most of. */
export function cellsOf(text: string): string[][] {
  const separator = separatorOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endRow = (): void => {
    row.push(cell);
    if (row.length > 1 || cell !== '') rows.push(row);
    row = [];
    cell = '';
  };
  for (let at = 0; at < text.length && rows.length <= MOST_ROWS; at += 1) {
    const letter = text[at] ?? '';
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (letter === '"' && cell === '') isQuoted = true;
    else if (letter === separator) {
      row.push(cell);
      cell = '';
    } else if (letter === '\n') endRow();
    else if (letter !== '\r') cell += letter;
  }
  endRow();
  return rows;
}

function separatorOf(text: string): string {
  const [line = ''] = text.slice(0, 10_000).split('\n', 1);
  const counted = [',', ';', '\t'].map((one) => [one, line.split(one).length] as const);
  return counted.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/** Columns whose cells are all numbers, with the numbers. */
export function numbersOf(heads: readonly string[], rows: readonly string[][]) {
  return heads.flatMap((name, column) => {
    const cells = rows.map((row) => row[column]?.trim() ?? '');
    const values = cells.map(Number);
    const isNumeric = cells.every((cell, at) => cell !== '' && Number.isFinite(values[at]));
    return isNumeric && rows.length > 1 ? [{ name, values }] : [];
  });
}
