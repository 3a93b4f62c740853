import type { JobResponse } from 'gridgate/client';
import { h, say, update } from '../parts/dom.js';
import { count, plural } from '../parts/format.js';
import { faultBox, stateLabel, timeText } from '../parts/pieces.js';
import { stateChart } from '../parts/state-chart.js';
import { repeatedly, type Page } from './page.js';

const PAGE_SIZE = 25;
const SECONDS = 2;

/** The jobs with their states, kept up to date while the page is open. */
export const jobsPage: Page = async (input) => {
  const { root, query, signal } = input;
  const status = query.get('status') ?? undefined;
  const allOwners = query.get('all') === 'true';
  const parts = frame(status, allOwners);
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
    update(parts.chart, isEmpty ? welcomeText() : stateChart(summary, status, choose));
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
  void repeatedly({ seconds: SECONDS, signal, onFault }, refresh);
};

function frame(status: string | undefined, allOwners: boolean) {
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
        headings(allOwners).map((text) => h('th', { scope: 'col' }, text)),
      ),
    ),
    rows,
  );
  const head = h(
    'div',
    { class: 'head' },
    h('h1', {}, status === undefined ? 'Jobs' : `Jobs: ${status}`),
    h('label', { class: 'switch' }, everybody, ' Jobs of all owners'),
    h('a', { class: 'button', href: '#/submit' }, 'New job'),
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

function headings(allOwners: boolean): string[] {
  return ['Job', 'Name', 'State', ...(allOwners ? ['Owner'] : []), 'Site', 'Submitted'];
}

function row(job: JobResponse, allOwners: boolean): HTMLElement {
  return h(
    'tr',
    {},
    h(
      'td',
      { 'data-label': 'Job' },
      h('a', { href: `#/jobs/${job.jid}`, id: `job-${job.jid}` }, job.jid),
    ),
    h('td', { 'data-label': 'Name', class: 'name' }, job.name),
    h('td', { 'data-label': 'State' }, stateLabel(job.status), h('small', {}, job.minorStatus)),
    allOwners && h('td', { 'data-label': 'Owner' }, job.owner),
    h('td', { 'data-label': 'Site' }, job.site),
    h('td', { 'data-label': 'Submitted' }, timeText(job.times.submission)),
  );
}

function welcomeText(): HTMLElement {
  return h(
    'div',
    { class: 'empty' },
    h('p', {}, 'No jobs yet.'),
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
