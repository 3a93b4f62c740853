import {
  encodePath,
  type CompatibleFieldResponse,
  type CompatibleValue,
  type GridClient,
  type MetadataValue,
} from 'gridgate/client';
import { brush } from '../../parts/brush.js';
import { h, svg, type Child } from '../../parts/dom.js';
import { count } from '../../parts/format.js';
import { conditionsOf, type CataloguePlace, type Choice } from './place.js';

/** Values of one field that are offered at once; a range reaches the others. */
const OFFERED = 6;
/** Values whose numbers are drawn. */
const DRAWN = 60;
/** Of the picture of them, in its own units. */
const BAR = { step: 10, width: 8, height: 30 };

type Fields = Record<string, CompatibleFieldResponse>;

/**
 * A group of choices for each field, made from the values that are compatible with what is chosen elsewhere: whatever
 * is offered leads to something. A field that is chosen itself offers its other values too.
 */
export async function facetList(
  client: GridClient,
  place: CataloguePlace,
  signal: AbortSignal,
): Promise<HTMLElement> {
  const all = await compatible(client, place.at, place.chosen, signal);
  const own = await Promise.all(
    Object.keys(place.chosen).map(async (name) => {
      const { [name]: _, ...others } = place.chosen;
      const fields = await compatible(client, place.at, others, signal);
      return [name, fields[name]] as const;
    }),
  );
  const fields: Fields = { ...all };
  for (const [name, field] of own) if (field) fields[name] = field;
  const groups = Object.entries(fields)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, field]) => facet(name, field, place));
  const clear = h(
    'a',
    { class: 'button plain small', href: place.hash({ chosen: {} }) },
    'Clear all',
  );
  const isWide = matchMedia('(min-width: 48rem)').matches;
  return h(
    'aside',
    { class: 'facets', 'aria-label': 'Filters' },
    h(
      'details',
      { open: isWide },
      h('summary', {}, h('h2', {}, 'Filters')),
      own.length > 0 && clear,
      groups.length > 0 ? groups : h('p', { class: 'soft' }, 'No metadata below this directory.'),
    ),
  );
}

/** Fields with the values that lead to something, and the number of directories of each. */
async function compatible(
  client: GridClient,
  at: string,
  chosen: Record<string, Choice>,
  signal: AbortSignal,
): Promise<Fields> {
  const query = { conditions: conditionsOf(chosen), counts: true, maxValues: DRAWN };
  if (at === '/') return client.readMetadata(query, { signal });
  const [types, lists] = await Promise.all([
    typesOf(client),
    client.readDirectoryMetadata(encodePath(at), query, { signal }),
  ]);
  return Object.fromEntries(
    Object.entries(lists).map(([name, field]) => [name, asField(field, types[name] ?? 'string')]),
  );
}

const KNOWN = new WeakMap<GridClient, Promise<Record<string, CompatibleFieldResponse['type']>>>();

/** Types of all fields; the answers about a directory do not name them. */
function typesOf(client: GridClient): Promise<Record<string, CompatibleFieldResponse['type']>> {
  const asked =
    KNOWN.get(client) ??
    client
      .readMetadata({ maxValues: 1 })
      .then((fields) =>
        Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, type])),
      );
  KNOWN.set(client, asked);
  asked.catch(() => KNOWN.delete(client));
  return asked;
}

/** Without `maxValues` the values are a list, with it they stand beside total, min and max. */
function asField(field: unknown, type: CompatibleFieldResponse['type']): CompatibleFieldResponse {
  return Array.isArray(field)
    ? { type, values: field as CompatibleValue[] }
    : { ...(field as CompatibleFieldResponse), type };
}

/** A day is enough where the time is midnight. */
function wordOf(value: MetadataValue, type: string): string {
  const text = String(value);
  return type === 'date' ? text.replace('T00:00:00.000Z', '') : text;
}

function valueOf(value: CompatibleValue): { value: MetadataValue; directories?: number } {
  return typeof value === 'object' ? value : { value };
}

/**
 * How many directories have which of the numbers, from the smallest on; nothing when not all of them are known. Whoever
 * draws over some of them chooses from the first to the last of these.
 */
function histogram(
  name: string,
  { type, values, total = 0 }: CompatibleFieldResponse,
  choice: Choice,
  choose: (next: Choice) => void,
): Child {
  if (type === 'string' || values.length < 3 || total > values.length) return undefined;
  const counts = values.map((entry) => valueOf(entry).directories ?? 0);
  const words = values.map((entry) => wordOf(valueOf(entry).value, type));
  const most = Math.max(1, ...counts);
  const bars = counts.map((number, index) => {
    const height = (number / most) * BAR.height;
    const tone = isChosen(words[index] ?? '', type, choice) ? 'run' : 'off';
    const [x, y] = [index * BAR.step, BAR.height - height];
    return svg('rect', { class: `area ${tone}`, x, y, width: BAR.width, height });
  });
  const size = { width: counts.length * BAR.step, height: BAR.height };
  const picture = svg(
    'svg',
    {
      ...{ viewBox: `0 0 ${size.width} ${size.height}`, preserveAspectRatio: 'none' },
      ...{ class: 'bars', role: 'img' },
      'aria-label': `Directories by ${name}, from ${words[0]} to ${words.at(-1)}`,
    },
    bars,
  );
  const at = (part: number): string =>
    words[Math.min(words.length - 1, Math.floor(part * words.length))] ?? '';
  brush(picture, size, (from, to) => choose({ from: at(from), to: at(to) }));
  return picture;
}

/** Whether a number or date is among those that are chosen; all are when none is. */
function isChosen(word: string, type: string, { exact, from, to }: Choice): boolean {
  const rank = (text: string): number => (type === 'date' ? Date.parse(text) : Number(text));
  if (exact !== undefined) return rank(word) === rank(exact);
  return (
    !(from !== undefined && rank(word) < rank(from)) && !(to !== undefined && rank(word) > rank(to))
  );
}

function facet(name: string, field: CompatibleFieldResponse, place: CataloguePlace): HTMLElement {
  const choice = place.chosen[name] ?? {};
  const isText = field.type === 'string';
  const open = (next: Choice): void => {
    const { [name]: _, ...others } = place.chosen;
    const isEmpty = Object.values(next).every(
      (part: string | string[] | undefined) => part === undefined || part.length === 0,
    );
    location.hash = place.hash({ chosen: isEmpty ? others : { ...others, [name]: next } });
  };
  const options = field.values.slice(0, OFFERED).map((entry) => {
    const { value, directories } = valueOf(entry);
    const word = wordOf(value, field.type);
    const chosen = isText ? (choice.values ?? []).includes(word) : choice.exact === word;
    const toggle = (): void => {
      const rest = (choice.values ?? []).filter((one) => one !== word);
      if (isText) open({ values: chosen ? rest : [...rest, word] });
      else open(chosen ? {} : { exact: word });
    };
    const id = `facet-${name}-${word}`;
    return h(
      'li',
      {},
      h(
        'label',
        {},
        h('input', { type: 'checkbox', id, checked: chosen, onChange: toggle }),
        h('span', {}, word),
      ),
      directories !== undefined &&
        h('span', { class: 'number', title: 'directories' }, count(directories)),
    );
  });
  const hidden = (field.total ?? field.values.length) - options.length;
  return h(
    'fieldset',
    { class: 'facet', 'data-field': name },
    h('legend', {}, name),
    histogram(name, field, choice, open),
    h('ul', {}, options),
    hidden > 0 && h('p', { class: 'soft' }, `and ${count(hidden)} more`),
    !isText && range(name, field, choice, open),
  );
}

/** From–to for what has an order. */
function range(
  name: string,
  field: CompatibleFieldResponse,
  choice: Choice,
  open: (next: Choice) => void,
): HTMLElement {
  const input = (label: string, value: string | undefined, hint: unknown): HTMLInputElement =>
    h('input', {
      type: 'text',
      inputMode: field.type === 'date' ? 'text' : 'decimal',
      'aria-label': `${name} ${label}`,
      id: `facet-${name}-${label}`,
      placeholder: hint === undefined ? label : wordOf(hint as string, field.type),
      value: value ?? '',
    });
  const from = input('from', choice.from, field.min);
  const to = input('to', choice.to, field.max);
  const fault = h('p', { class: 'wrong', role: 'alert', hidden: true });
  const apply = (event: Event): void => {
    event.preventDefault();
    const wrong = [from, to].filter(({ value }) => !isOf(field.type, value.trim()));
    for (const one of [from, to]) one.toggleAttribute('aria-invalid', wrong.includes(one));
    fault.hidden = wrong.length === 0;
    fault.textContent = `“${wrong[0]?.value}” is no ${field.type === 'date' ? 'date: write 2026-01-31' : 'number'}`;
    if (wrong.length > 0) {
      wrong[0]?.focus();
      return;
    }
    const [least, most] = [from, to].map(({ value }) => value.trim());
    if (least && most && isBefore(field.type, most, least)) {
      fault.hidden = false;
      fault.textContent = 'From is beyond to';
      from.focus();
      return;
    }
    open({
      ...(from.value.trim() !== '' && { from: from.value.trim() }),
      ...(to.value.trim() !== '' && { to: to.value.trim() }),
    });
  };
  return h(
    'form',
    { class: 'range', onSubmit: apply },
    from,
    h('span', { 'aria-hidden': 'true' }, '–'),
    to,
    h('button', { class: 'plain small', 'aria-label': `Apply range of ${name}` }, 'Go'),
    fault,
  );
}

function isBefore(type: string, one: string, other: string): boolean {
  return type === 'date' ? Date.parse(one) < Date.parse(other) : Number(one) < Number(other);
}

/** Nothing is no limit. */
function isOf(type: string, text: string): boolean {
  if (text === '') return true;
  if (type === 'date') return /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));
  return Number.isFinite(Number(text));
}
