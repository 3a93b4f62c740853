import type {
  GridClient,
  JobSharesResponse,
  JobUsageResponse,
  JobUsageRow,
  ReportJobUsageQuery,
} from 'gridgate/client';
import { h, update, type Child } from '../parts/dom.js';
import { count, duration } from '../parts/format.js';
import { faultBox, saveAs } from '../parts/pieces.js';
import { shareBars } from '../parts/share-bars.js';
import type { Page } from './page.js';

const DIVISIONS: Record<string, string> = {
  'month,group': 'Month and group',
  'month,group,owner': 'Month, group and owner',
  'month,site': 'Month and site',
  'month,jobGroup': 'Month and job group',
  day: 'Day',
  'day,jobGroup': 'Day and job group',
};
const [USUAL = ''] = Object.keys(DIVISIONS);
const KEYS = ['month', 'day', 'group', 'owner', 'site', 'jobGroup'] as const;
const FIGURES: [string, (row: JobUsageRow) => string][] = [
  ['Runs', ({ runs }) => count(runs)],
  ['Done', ({ done }) => count(done)],
  ['Time', ({ wallHours }) => timeOf(wallHours)],
  ['Processor time', ({ processorHours }) => timeOf(processorHours)],
  ['CPU time', ({ cpuHours }) => timeOf(cpuHours)],
  ['CPU', ({ cpuEfficiency }) => percent(cpuEfficiency)],
  ['Memory', ({ memoryEfficiency }) => percent(memoryEfficiency)],
  ['kWh', ({ energy }) => energy.toFixed(3)],
];

/** Who has had what: the shares that decide who runs next, and what runs have used. */
export const usagePage: Page = async ({ client, root, query, signal }) => {
  const wish = wishOf(query);
  const [shares, report] = await Promise.all([
    client.showJobShares({}, { signal }),
    client.reportJobUsage(wish, { signal }),
  ]);
  const keys = KEYS.filter((key) => report.rows.some((row) => row[key] !== undefined));
  const { processorWatts, memoryWattsPerGB, pue } = report.energy;
  root.replaceChildren(
    h('div', { class: 'head' }, h('h1', {}, 'Usage')),
    sharesCard(shares),
    h(
      'section',
      { class: 'card' },
      h(
        'div',
        { class: 'head' },
        h('h2', {}, `Runs that ended from ${report.from} to ${report.to}`),
        saveButton(client, wish),
      ),
      choice(wish, report),
      report.rows.length === 0 ? h('p', {}, 'None.') : table(report.rows, keys),
      h(
        'p',
        { class: 'soft' },
        `Job groups are told apart for 100 days. Days are those of UTC. Processor time is that of the processors that runs were given, CPU time what they used of it; CPU and memory: how much of what they were given was used. Energy is an estimate: ${processorWatts} W for each processor at work and ${memoryWattsPerGB} W for each GB of memory, times ${pue} for the building.`,
      ),
    ),
  );
};

function wishOf(query: URLSearchParams): ReportJobUsageQuery {
  const by = query.get('by') ?? USUAL;
  const [from, to] = [query.get('from'), query.get('to')];
  return {
    by: Object.hasOwn(DIVISIONS, by) ? by : USUAL,
    ...(from && { from }),
    ...(to && { to }),
  };
}

function sharesCard({ shared, halfLife, groups }: JobSharesResponse): HTMLElement {
  const hours = Math.round(halfLife / 360) / 10;
  const text = shared
    ? `Who has had less than is due comes first. What was used counts half after ${hours} hours.`
    : 'Places are not shared here: priority and age decide.';
  const waits = (waiting: boolean): string => (waiting ? '; has jobs that wait' : '');
  const cards: Child = groups.map(({ group, owners, ...share }) => [
    shareBars(`Share of ${group}`, [{ ...share, name: group, note: waits(share.waiting) }]),
    h(
      'details',
      {},
      h('summary', {}, `Owners in ${group}`),
      shareBars(
        `Shares of owners in ${group}`,
        owners.map((one) => ({ ...one, name: one.owner, note: waits(one.waiting) })),
      ),
    ),
  ]);
  const isEmpty = shared && groups.length === 0;
  return h(
    'section',
    { class: 'card' },
    h('h2', {}, 'Shares'),
    h('p', { class: 'soft' }, text),
    isEmpty ? h('p', {}, 'Nothing was used lately, and nobody waits.') : cards,
  );
}

/** What the table is divided by and about when; the address says it, so that it can be sent to somebody. */
function choice(
  wish: ReportJobUsageQuery,
  { from: first, to: last }: JobUsageResponse,
): HTMLElement {
  const by = h(
    'select',
    { id: 'by' },
    Object.entries(DIVISIONS).map(([value, title]) =>
      h('option', { value, selected: value === wish.by }, title),
    ),
  );
  const [from, to] = [
    h('input', { type: 'date', id: 'from', value: first }),
    h('input', { type: 'date', id: 'to', value: last }),
  ];
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const next = new URLSearchParams({ by: by.value });
    if (from.value !== '') next.set('from', from.value);
    if (to.value !== '') next.set('to', to.value);
    location.hash = `#/usage?${next.toString()}`;
  };
  const field = (label: string, input: HTMLElement): HTMLElement =>
    h('div', { class: 'field' }, h('label', { htmlFor: input.id }, label), input);
  return h(
    'form',
    { class: 'choice-of-usage', onSubmit },
    field('Divided by', by),
    field('From', from),
    field('To', to),
    h('button', { type: 'submit', class: 'plain' }, 'Show'),
  );
}

function saveButton(client: GridClient, query: ReportJobUsageQuery): HTMLElement {
  const note = h('div');
  const save = async (): Promise<void> => {
    const asked = { method: 'GET', path: '/jobs/usage', query, answer: 'json' } as const;
    const { answer } = await client.raw(asked, { headers: { Accept: 'text/csv' } });
    saveAs(await answer.blob(), 'usage.csv');
  };
  const onClick = (): void => {
    save().catch((error: unknown) => update(note, faultBox(error)));
  };
  return h(
    'div',
    {},
    h('button', { type: 'button', class: 'plain small', onClick }, 'Save as CSV'),
    note,
  );
}

function table(rows: readonly JobUsageRow[], keys: readonly (typeof KEYS)[number][]): HTMLElement {
  const heads = [
    ...keys.map((key) => (key === 'jobGroup' ? 'Job group' : capital(key))),
    ...FIGURES.map(([name]) => name),
  ];
  return h(
    'div',
    { class: 'wide', tabIndex: 0, role: 'region', 'aria-label': 'Usage' },
    h(
      'table',
      { class: 'usage' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((head) => h('th', { scope: 'col' }, head)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) =>
          h(
            'tr',
            {},
            keys.map((key) => h('td', {}, row[key] ?? '')),
            FIGURES.map(([, figure]) => h('td', { class: 'number' }, figure(row))),
          ),
        ),
      ),
    ),
  );
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** Hours, or seconds of what took less. */
function timeOf(hours: number): string {
  return hours < 1 ? duration(hours * 3_600_000) : `${hours.toFixed(2)} h`;
}

function percent(value: number | null): string {
  return value === null ? '–' : `${value.toFixed(1)} %`;
}
