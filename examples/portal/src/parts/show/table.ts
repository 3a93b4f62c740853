import { h, svg, update, type Child } from '../dom.js';
import { count } from '../format.js';
import { cellsOf, MOST_ROWS, numbersOf } from './csv.js';

const WIDTH = 1_000;
const HEIGHT = 260;
const MOST_COLUMNS = 60;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** The first line names the columns, unless there are numbers alone in it. */
function withHeads(lines: string[][]): { heads: string[]; all: string[][] } {
  const [first = [], ...others] = lines;
  const isData = first.length > 0 && first.every((cell) => NUMBER.test(cell.trim()));
  if (!isData) return { heads: first, all: others };
  return { heads: first.map((_, column) => `column ${column + 1}`), all: lines };
}

/** A file of cells as a table, and columns of numbers as lines over the first of them. */
export function showTable(text: string, name: string): Child {
  const { heads, all } = withHeads(cellsOf(text));
  const isCut = all.length >= MOST_ROWS;
  const rows = all.slice(0, MOST_ROWS);
  if (heads.length === 0) return h('p', { class: 'soft' }, '(empty)');
  const shown = heads.slice(0, MOST_COLUMNS);
  const cut = [
    isCut ? `the first ${count(MOST_ROWS)} rows` : '',
    shown.length < heads.length ? `${count(shown.length)} of ${count(heads.length)} columns` : '',
  ].filter((part) => part !== '');
  return [
    chartOf(heads, rows),
    cut.length > 0 && h('p', { class: 'soft' }, `Shown: ${cut.join(', ')}.`),
    h(
      'div',
      { class: 'wide result', tabIndex: 0, role: 'region', 'aria-label': `Content of ${name}` },
      h(
        'table',
        { class: 'sides' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            shown.map((head) => h('th', { scope: 'col' }, head)),
          ),
        ),
        h(
          'tbody',
          {},
          rows.map((row) =>
            h(
              'tr',
              {},
              shown.map((_, column) => h('td', {}, row[column] ?? '')),
            ),
          ),
        ),
      ),
    ),
  ];
}

/** The first column of numbers to the right, another one upwards. */
function chartOf(heads: readonly string[], rows: readonly string[][]): Child {
  const columns = numbersOf(heads, rows);
  const [across, ...others] = columns;
  if (!across || others.length === 0) return undefined;
  const place = h('div');
  const draw = (): void => {
    const up = others[Number(select.value)];
    if (up) update(place, lineOf(across, up));
  };
  const select = h(
    'select',
    { 'aria-label': 'Column that is drawn', onChange: draw },
    others.map(({ name }, index) => h('option', { value: String(index) }, name)),
  );
  draw();
  return h('div', { class: 'line-chart' }, h('label', {}, select, ` over ${across.name}`), place);
}

interface Column {
  name: string;
  values: readonly number[];
}

function lineOf(across: Column, up: Column): HTMLElement {
  const [left, right] = ends(across.values);
  const [low, high] = ends(up.values);
  const x = (value: number): number => ((value - left) / (right - left || 1)) * (WIDTH - 16) + 8;
  const y = (value: number): number =>
    HEIGHT - 8 - ((value - low) / (high - low || 1)) * (HEIGHT - 16);
  const points = across.values
    .map((value, at) => [value, up.values[at] ?? 0] as const)
    .sort(([a], [b]) => a - b)
    .map(([one, other]) => `${x(one).toFixed(1)},${y(other).toFixed(1)}`);
  const label = `${up.name} over ${across.name}: from ${low} to ${high}`;
  return h(
    'figure',
    {},
    svg(
      'svg',
      {
        ...{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' },
        ...{ role: 'img', 'aria-label': label },
      },
      svg('polyline', { class: 'line', points: points.join(' ') }),
    ),
    h(
      'figcaption',
      { class: 'soft' },
      `${across.name} from ${left} to ${right}, ${up.name} from ${low} to ${high}`,
    ),
  );
}

function ends(values: readonly number[]): [number, number] {
  const [first = 0] = values;
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [first, first],
  );
}
