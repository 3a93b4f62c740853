import { h, say, update } from '../../parts/dom.js';
import { moment } from '../../parts/format.js';
import { WINDOWS, type FilterName, type JobsView } from './view.js';

const FIELDS: [FilterName, string][] = [
  ['name', 'Name'],
  ['site', 'Site'],
  ['minor', 'Minor status'],
  ['group', 'Job group'],
  ['owner', 'Owner'],
  ['array', 'Array'],
];
const [, HOUR = ''] = Object.keys(WINDOWS);

/** Views that are often wanted. */
const VIEWS: [string, (view: JobsView) => JobsView][] = [
  ['Failed in the last day', (view) => view.with({ status: 'Failed' }).withSpan(lastDay())],
  ['At work', (view) => view.with({ status: 'Running' })],
  ['Waiting', (view) => view.with({ status: 'Waiting' })],
];

/** What is filtered, each to be taken away; more filters; and the address of it all, to be kept. */
export function filterBar(view: JobsView): HTMLElement {
  const set = [...FIELDS, ['status', 'State'] as [FilterName, string]].filter(
    ([name]) => view.chosen[name] !== undefined,
  );
  const chips = set.map(([name, label]) =>
    h(
      'a',
      {
        class: 'chip set',
        id: `without-${name}`,
        href: view.with({ [name]: undefined }).hash,
        'aria-label': `Without ${label} ${view.chosen[name]}`,
      },
      `${label}: ${view.chosen[name]} ✕`,
    ),
  );
  const { from, to } = view.span;
  const when = [
    from !== undefined && `since ${moment(from)}`,
    to !== undefined && `until ${moment(to)}`,
  ];
  const times = when.filter((text) => text !== false).join(', ');
  if (times !== '') {
    const href = view.withSpan({}).hash;
    const label = `Without ${times}`;
    chips.push(
      h('a', { class: 'chip set', id: 'without-span', href, 'aria-label': label }, `${times} ✕`),
    );
  }
  const usual = VIEWS.map(([title, change]) =>
    h(
      'button',
      {
        type: 'button',
        class: 'plain small',
        onClick: () => change(view.with(nothing()).withSpan({}).withWindow(HOUR)).open(),
      },
      title,
    ),
  );
  return h(
    'section',
    { class: 'filters', 'aria-label': 'Views' },
    h('div', { class: 'examples' }, usual, chips, copyButton()),
    form(view),
  );
}

function form(view: JobsView): HTMLElement {
  const inputs = FIELDS.map(([name, label]) => ({
    name,
    label,
    input: h('input', {
      ...{ type: 'text', id: `filter-${name}`, value: view.chosen[name] ?? '' },
      ...{ autocomplete: 'off', spellcheck: false },
    }),
  }));
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const values = inputs.map(({ name, input }) => [name, input.value.trim()] as const);
    view.with(Object.fromEntries(values)).open();
  };
  return h(
    'details',
    {},
    h('summary', {}, 'Narrow down'),
    h(
      'form',
      { class: 'choice-of-usage', onSubmit },
      inputs.map(({ label, input }) =>
        h('div', { class: 'field' }, h('label', { htmlFor: input.id }, label), input),
      ),
      h('button', { class: 'plain' }, 'Filter'),
    ),
  );
}

/** The view stands in the address: as a bookmark it is kept, in a message somebody else sees the same. */
function copyButton(): HTMLElement {
  const note = h('span', { class: 'soft' });
  const copy = (): void => {
    navigator.clipboard.writeText(location.href).then(
      () => {
        update(note, 'copied');
        say('The address of this view is copied');
      },
      () => update(note, 'it is in the address line'),
    );
  };
  return h(
    'span',
    {},
    h('button', { type: 'button', class: 'plain small', onClick: copy }, 'Copy link to this view'),
    ' ',
    note,
  );
}

function nothing(): Partial<Record<FilterName, undefined>> {
  const names = [...FIELDS.map(([name]) => name), 'status'] as FilterName[];
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

function lastDay(): { from: string } {
  const day = new Date(Date.now() - 86_400_000);
  day.setUTCSeconds(0, 0);
  return { from: day.toISOString() };
}
