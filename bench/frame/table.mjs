/** A number with three figures that count, thousands in groups. */
export function shortNumber(number) {
  if (!Number.isFinite(number)) return '—';
  if (Math.abs(number) >= 100) return Math.round(number).toLocaleString('en');
  return String(Number(number.toPrecision(3)));
}

const COLUMNS = [
  ['figure', (row) => `${row.name}: ${row.title}`],
  ['measured', (row) => `${shortNumber(row.figure.value)} ${row.unit}`],
  ['p50 / p99 ms', (row) => times(row.figure)],
  ['floor', (row) => (row.floor ? `${shortNumber(row.floor.value)} ${row.unit}` : '—')],
  ['floor is', (row) => row.floorIs ?? '—'],
  ['ratio', (row) => (row.ratio === undefined ? '—' : row.ratio.toFixed(2))],
  ['note', (row) => row.figure.note ?? ''],
];

function times(side) {
  return side.p50 === undefined ? '—' : `${shortNumber(side.p50)} / ${shortNumber(side.p99)}`;
}

/** The rows as a Markdown table whose columns are aligned for a terminal too. */
export function tableOf(rows) {
  const used = COLUMNS.filter(([name, cell]) => name !== 'note' || rows.some((row) => cell(row)));
  const lines = [
    used.map(([name]) => name),
    ...rows.map((row) => used.map(([, cell]) => cell(row))),
  ];
  const widths = used.map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  const write = (line) => `| ${line.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`;
  const [head, ...body] = lines;
  return [
    write(head),
    `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`,
    ...body.map(write),
  ].join('\n');
}
