import { stringifyJson } from 'gridgate/client';
import { h } from './dom.js';

/** Two things by name of their parts. */
export type Parts = Readonly<Record<string, unknown>>;

/** Names of what differs, in the order in which they stand. */
export function differing(one: Parts, other: Parts, but: ReadonlySet<string> = new Set()) {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.filter(
    (name) => !but.has(name) && stringifyJson(one[name]) !== stringifyJson(other[name]),
  );
}

/** A row for each name, with what both have. */
export function sideBySide(
  heads: readonly [string, string, string],
  names: readonly string[],
  one: Parts,
  other: Parts,
): HTMLElement {
  const rows = names.map((name) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, name),
      h('td', {}, text(one[name])),
      h('td', {}, text(other[name])),
    ),
  );
  return h(
    'table',
    { class: 'sides' },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        heads.map((head) => h('th', { scope: 'col' }, head)),
      ),
    ),
    h('tbody', {}, rows),
  );
}

function text(value: unknown): string {
  if (value === undefined) return '—';
  return typeof value === 'string' ? value : stringifyJson(value);
}

/** Where nothing is cut: `1` is not what `10` and `11` have in common. */
const INSIDE = /[^\s="'[\]]/;

/** Of texts that are the same at both ends, what is between, in whole words. */
export function varyingParts(texts: readonly string[]): string[] {
  const [first = '', ...others] = texts;
  const same = (at: (text: string, index: number) => string | undefined, most: number): number => {
    let length = 0;
    while (length < most && others.every((text) => at(text, length) === at(first, length))) {
      length += 1;
    }
    return length;
  };
  const shortest = Math.min(...texts.map(({ length }) => length));
  let start = same((text, index) => text[index], shortest);
  while (INSIDE.test(first[start - 1] ?? '')) start -= 1;
  let end = same((text, index) => text[text.length - 1 - index], shortest - start);
  while (INSIDE.test(first[first.length - end] ?? '')) end -= 1;
  const dots = (isCut: boolean): string => (isCut ? '…' : '');
  return texts.map(
    (text) => `${dots(start > 0)}${text.slice(start, text.length - end)}${dots(end > 0)}`,
  );
}
