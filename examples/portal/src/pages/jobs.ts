import type { JobResponse } from 'gridgate/client';
import { h, say, update, type Child } from '../parts/dom.js';
import { count, plural } from '../parts/format.js';
import { faultBox, stateLabel, timeText } from '../parts/pieces.js';
import { stateChart } from '../parts/state-chart.js';
import { atMoves } from './moves.js';
import type { Page } from './page.js';

const PAGE_SIZE = 25;
/** However much happens. */
const AT_MOST_EVERY = 0.5;

/** The jobs with their states, as they move while the page is open. */
export const jobsPage: Page = async (input) => {
  const { root, query, signal } = input;
  const status = query.get('status') ?? undefined;
  const allOwners = query.get('all') === 'true';
  const maySubmit = input.may('jobs:submit');
  const parts = frame(status, allOwners, maySubmit);
  root.replaceChildren(...parts.elements);
  let shown = PAGE_SIZE;
  let known = new Map<number, string>();
  parts.more.addEventListener('click', () => {
    shown += PAGE_SIZE;
    void refresh().catch((error: unknown) => update(parts.fault, faultBox(error)));
  });

  const refresh = async (): Promise<void> => {
    const wish = { allOwners, maxJobs: shown, ...(status !== undefined && { status: [status] }) };
    const [summary, list] = await Promise.all([
      input.client.summarizeJobs({ allOwners }, { signal }),
      input.client.listJobs(wish as Parameters<typeof input.client.listJobs>[0], { signal }),
    ]);
    const isEmpty = Object.keys(summary).length === 0;
    const choose = (next: string | undefined): void => open(next, allOwners);
    update(parts.fault);
    update(parts.chart, isEmpty ? welcomeText(maySubmit) : stateChart(summary, status, choose));
    parts.table.hidden = list.jobs.length === 0;
    update(
      parts.rows,
      list.jobs.map((job) => row(job, allOwners)),
    );
    update(parts.total, totalText(list.jobs.length, list.entries, status));
    parts.more.hidden = list.jobs.length >= list.entries;
    known = announce(known, list.jobs);
  };
  const onFault = (error: unknown): void => update(parts.fault, faultBox(error));
  await refresh();
  const moves = { client: input.client, query: { allOwners }, atMostEvery: AT_MOST_EVERY };
  void atMoves({ ...moves, signal, onFault }, refresh);
};

function frame(status: string | undefined, allOwners: boolean, maySubmit: boolean) {
  const chart = h('div');
  const rows = h('tbody');
  const fault = h('div');
  const total = h('p', { class: 'soft' });
  const more = h('button', { type: 'button', class: 'plain', hidden: true }, 'Show more');
  const everybody = h('input', {
    type: 'checkbox',
    checked: allOwners,
    onChange: () => open(status, everybody.checked),
  });
  const table = h(
    'table',
    { class: 'jobs', hidden: true },
    h('caption', { class: 'unseen' }, 'Jobs, newest first'),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        columns(allOwners).map(({ heading }) => h('th', { scope: 'col' }, heading)),
      ),
    ),
    rows,
  );
  const head = h(
    'div',
    { class: 'head' },
    h('h1', {}, status === undefined ? 'Jobs' : `Jobs: ${status}`),
    h('label', { class: 'switch' }, everybody, ' Jobs of all owners'),
    maySubmit && h('a', { class: 'button', href: '#/submit' }, 'New job'),
  );
  return {
    chart,
    rows,
    fault,
    total,
    more,
    table,
    elements: [head, fault, chart, table, total, more],
  };
}

/** A column of the table. */
interface Column {
  heading: string;
  className?: string;
  /** Only in lists of all owners. */
  ofAll?: true;
  cell: (job: JobResponse) => Child;
}

const COLUMNS: Column[] = [
  {
    heading: 'Job',
    cell: ({ jid }) => h('a', { href: `#/jobs/${jid}`, id: `job-${jid}` }, jid),
  },
  { heading: 'Name', className: 'name', cell: ({ name }) => name },
  {
    heading: 'State',
    cell: ({ status, minorStatus }) => [stateLabel(status), h('small', {}, minorStatus)],
  },
  { heading: 'Owner', ofAll: true, cell: ({ owner }) => owner },
  { heading: 'Site', cell: ({ site }) => site },
  { heading: 'Submitted', cell: ({ times }) => timeText(times.submission) },
];

function columns(allOwners: boolean): Column[] {
  return COLUMNS.filter(({ ofAll }) => allOwners || !ofAll);
}

function row(job: JobResponse, allOwners: boolean): HTMLElement {
  return h(
    'tr',
    {},
    columns(allOwners).map(({ heading, className, cell }) =>
      h('td', { 'data-label': heading, class: className }, cell(job)),
    ),
  );
}

function welcomeText(maySubmit: boolean): HTMLElement {
  return h(
    'div',
    { class: 'empty' },
    h('p', {}, 'No jobs yet.'),
    maySubmit &&
      h('p', {}, h('a', { href: '#/submit' }, 'Submit the first one'), ' — an example is ready.'),
  );
}

function totalText(shown: number, entries: number, status: string | undefined): string {
  if (entries === 0) return status === undefined ? '' : `No job is ${status}.`;
  return shown < entries ? `${count(shown)} of ${plural(entries, 'job')}` : plural(entries, 'job');
}

/** Tells screen readers which of the jobs they know have moved. */
function announce(known: Map<number, string>, jobs: JobResponse[]): Map<number, string> {
  const moved = jobs.filter(({ jid, status }) => known.has(jid) && known.get(jid) !== status);
  if (moved.length > 0) say(moved.map(({ jid, status }) => `Job ${jid} is ${status}`).join(', '));
  return new Map(jobs.map(({ jid, status }) => [jid, status]));
}

function open(status: string | undefined, allOwners: boolean): void {
  const query = new URLSearchParams();
  if (status !== undefined) query.set('status', status);
  if (allOwners) query.set('all', 'true');
  const text = query.toString();
  location.hash = text === '' ? '#/jobs' : `#/jobs?${text}`;
}
