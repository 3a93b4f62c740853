import type { JobResponse } from 'gridgate/client';
import { h, say, update } from '../parts/dom.js';
import { count, duration, plural } from '../parts/format.js';
import { faultBox, saveAs, smallButton } from '../parts/pieces.js';
import { stateList, stateRing } from '../parts/state-chart.js';
import { atMostEvery } from '../parts/work.js';
import { BulkBar } from './jobs/bulk.js';
import { causesAmong, causeSection, causesOf, type Cause } from './jobs/causes.js';
import { allJobs, jobsCsv } from './jobs/export.js';
import { filterBar } from './jobs/filters.js';
import { Overview } from './jobs/overview.js';
import { selectionOf } from './jobs/selection.js';
import { JobTable } from './jobs/table.js';
import { JobsView } from './jobs/view.js';
import { atMoves } from './moves.js';
import type { Page, PageInput } from './page.js';

const PAGE_SIZE = 25;
/** However much happens. */
const AT_MOST_EVERY = 0.5;
/** The chart counts histories, which costs more than a list. */
const OVERVIEW_EVERY = 3;
/** More are not chosen at once. */
const MOST_CHOSEN = 1_000;
const CHARTS_KEPT = 'portal.charts';

/** The jobs and what to do with many of them; folded, what they are at over time and by site. */
export const jobsPage: Page = async (input) => {
  const page = new JobsPage(input);
  input.root.replaceChildren(...page.elements);
  await page.begin();
};

class JobsPage {
  private readonly view: JobsView;
  private readonly selection;
  private readonly bulk;
  private readonly table;
  private readonly overview;
  private readonly states = h('div');
  private readonly ring = h('div');
  private readonly charts: HTMLDetailsElement;
  private readonly causes = h('div');
  private readonly fault = h('div');
  /** What goes wrong with looking at them, until that goes well again. */
  private readonly lost = h('div');
  private readonly total = h('p', { class: 'soft' });
  private readonly more = h(
    'button',
    { type: 'button', class: 'plain', hidden: true, onClick: () => this.showMore() },
    'Show more',
  );
  private readonly chooseAll = h(
    'button',
    { type: 'button', class: 'plain', hidden: true, onClick: () => void this.chooseMatching({}) },
    'Choose all',
  );
  private shown = PAGE_SIZE;
  private known = new Map<number, string>();
  private ofShown: Cause[] = [];

  constructor(private readonly input: PageInput) {
    this.view = JobsView.of(input.query);
    this.selection = selectionOf(input.user, this.view);
    const { view } = this;
    this.charts = foldedCharts(view, this.ring, (this.overview = new Overview(view)).element);
    this.bulk = new BulkBar(input.client, this.selection, input.may('jobs:kill'));
    this.table = new JobTable(this.selection, this.view.all);
    this.selection.shownBy(() => this.showChosen());
  }

  get elements(): HTMLElement[] {
    const { view } = this;
    const everybody = h('input', {
      type: 'checkbox',
      id: 'everybody',
      checked: view.all,
      onChange: () => view.withAll(everybody.checked).open(),
    });
    const { status } = view.chosen;
    const head = h(
      'div',
      { class: 'head' },
      h('h1', {}, status === undefined ? 'Jobs' : `Jobs: ${status}`),
      h('label', { class: 'switch' }, everybody, ' Jobs of all owners'),
      this.input.may('jobs:submit') && h('a', { class: 'button', href: '#/submit' }, 'New job'),
    );
    const save = smallButton('Save as CSV', 'Save these jobs as CSV', this.fault, () =>
      this.save(),
    );
    const below = h('div', { class: 'actions' }, this.more, this.chooseAll, save);
    return [
      ...[head, this.lost, this.fault, this.states, filterBar(view), this.charts],
      ...[this.bulk.element, this.table.element, this.total, below, this.causes],
    ];
  }

  async begin(): Promise<void> {
    const { client, signal } = this.input;
    const onFault = (error: unknown): void => update(this.lost, faultBox(error));
    const look = atMostEvery(OVERVIEW_EVERY, signal, () => {
      if (this.charts.open) this.overview.refresh(client, signal).catch(onFault);
    });
    this.charts.addEventListener('toggle', look);
    await this.refresh().catch((error: unknown) => {
      if (!signal.aborted) onFault(error); // what is filtered wrongly can be mended here
    });
    const moves = { client, query: { allOwners: this.view.all }, atMostEvery: AT_MOST_EVERY };
    void atMoves({ ...moves, signal, onFault }, () => {
      look();
      return this.refresh();
    });
  }

  private async refresh(): Promise<void> {
    const { view } = this;
    const { client, signal } = this.input;
    const failed = {
      ...view.query(),
      status: ['Failed' as const],
      group: ['minorStatus' as const],
    };
    const isOther = view.chosen.status !== undefined && view.chosen.status !== 'Failed';
    const [summary, list, causes] = await Promise.all([
      client.summarizeJobs(view.query('status'), { signal }),
      client.listJobs({ ...view.query(), maxJobs: this.shown }, { signal }),
      isOther ? {} : client.summarizeJobs(failed, { signal }),
    ]);
    const isEmpty = Object.keys(summary).length === 0;
    const { status } = view.chosen;
    const choose = (next: string | undefined): void => view.with({ status: next }).open();
    update(this.lost);
    this.charts.hidden = isEmpty && !view.isFiltered;
    if (!isEmpty) update(this.states, stateList(summary, status, choose));
    else update(this.states, view.isFiltered ? undefined : welcome(this.input.may('jobs:submit')));
    update(this.ring, h('div', { class: 'chart' }, stateRing(summary), queueTime(list.jobs)));
    this.ofShown = causesOf(causes);
    this.selection.renew(list.jobs);
    this.table.show(list.jobs);
    this.showChosen();
    update(this.total, totalText(list.jobs.length, list.entries, view));
    this.more.hidden = list.jobs.length >= list.entries;
    const most = Math.min(list.entries, MOST_CHOSEN);
    this.chooseAll.hidden = list.entries < 2;
    this.chooseAll.textContent = `Choose ${most < list.entries ? 'the newest' : 'all'} ${count(most)}`;
    this.known = announce(this.known, list.jobs);
  }

  /** All that the list has, shown or not. */
  private async save(): Promise<void> {
    const { client, signal } = this.input;
    update(this.fault);
    saveAs(jobsCsv(await allJobs(client, this.view.query(), signal)), 'jobs.csv');
  }

  private showMore(): void {
    this.shown += PAGE_SIZE;
    this.refresh().catch((error: unknown) => update(this.lost, faultBox(error)));
  }

  private showChosen(): void {
    const { selection, view } = this;
    const causes = selection.size > 0 ? causesAmong(selection.jobs) : this.ofShown;
    const choose = (minorStatus: string): void => {
      if (selection.size === 0) void this.chooseMatching({ status: ['Failed'], minorStatus });
      else
        selection.choose(
          selection.jobs.filter((job) => job.minorStatus !== minorStatus),
          false,
        );
    };
    update(this.causes, causeSection(causes, view, selection, choose));
    this.bulk.show();
    this.table.mark();
  }

  /** Chooses what matches, shown or not. */
  private async chooseMatching(more: object): Promise<void> {
    const { client, signal } = this.input;
    const query = { ...this.view.query(), ...more, maxJobs: MOST_CHOSEN };
    update(this.fault);
    try {
      await this.selection.await(async () => (await client.listJobs(query, { signal })).jobs);
      say(`${plural(this.selection.size, 'job')} chosen`);
    } catch (error) {
      if (!signal.aborted) update(this.fault, faultBox(error));
    }
  }
}

/** Folded until somebody opens them, who finds them open from then on; or until the address says something about time. */
function foldedCharts({ isOfTime }: JobsView, ...charts: HTMLElement[]): HTMLDetailsElement {
  const isOpen = isOfTime || localStorage.getItem(CHARTS_KEPT) === 'open';
  const keep = (): void => localStorage.setItem(CHARTS_KEPT, details.open ? 'folded' : 'open');
  const details: HTMLDetailsElement = h(
    'details',
    { class: 'charts', open: isOpen },
    h('summary', { onClick: keep }, 'Charts: over time and by site'),
    charts,
  );
  return details;
}

/** How long those that are shown have waited for their start. */
function queueTime(jobs: readonly JobResponse[]): HTMLElement | undefined {
  const waits = jobs
    .flatMap(({ times: { submission, startExecution } }) =>
      startExecution === undefined ? [] : [Date.parse(startExecution) - Date.parse(submission)],
    )
    .sort((a, b) => a - b);
  const median = waits[Math.floor(waits.length / 2)];
  if (median === undefined) return undefined;
  const text = `Queue time of the newest ${plural(waits.length, 'job')} that started: median ${duration(median)}, longest ${duration(waits.at(-1) ?? 0)}.`;
  return h('p', { class: 'soft' }, text);
}

function welcome(maySubmit: boolean): HTMLElement {
  return h(
    'div',
    { class: 'empty' },
    h('p', {}, 'No jobs yet.'),
    maySubmit &&
      h('p', {}, h('a', { href: '#/submit' }, 'Submit the first one'), ' — an example is ready.'),
  );
}

function totalText(shown: number, entries: number, { chosen, isFiltered }: JobsView): string {
  if (entries === 0) {
    if (chosen.status !== undefined) return `No job is ${chosen.status}.`;
    return isFiltered ? 'No job is like that.' : '';
  }
  return shown < entries ? `${count(shown)} of ${plural(entries, 'job')}` : plural(entries, 'job');
}

/** Tells screen readers which of the jobs they know have moved. */
function announce(known: Map<number, string>, jobs: JobResponse[]): Map<number, string> {
  const moved = jobs.filter(({ jid, status }) => known.has(jid) && known.get(jid) !== status);
  if (moved.length > 0) say(moved.map(({ jid, status }) => `Job ${jid} is ${status}`).join(', '));
  return new Map(jobs.map(({ jid, status }) => [jid, status]));
}
