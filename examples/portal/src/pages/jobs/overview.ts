import type { GridClient, JobSummary, JobTimelineResponse } from 'gridgate/client';
import { areaChart, type Layer } from '../../parts/area-chart.js';
import { h, svg, update, type Child } from '../../parts/dom.js';
import { count } from '../../parts/format.js';
import { faultBox } from '../../parts/pieces.js';
import { toneOf, type Tone } from '../../parts/states.js';
import { WINDOWS, type JobsView } from './view.js';

/** From below. */
const TONES: [Tone, string][] = [
  ['run', 'at work'],
  ['wait', 'waiting'],
  ['bad', 'failed'],
  ['off', 'killed'],
  ['good', 'done'],
];
/** They pile up for ever: the chart has those that came to their end within it. */
const ENDED: ReadonlySet<Tone> = new Set(['good', 'bad', 'off']);
const MOST_SITES = 12;

/** Over time and by site: what happens, and where. */
export class Overview {
  private readonly picture = h('div');
  private readonly strip = h('div');
  readonly element: HTMLElement;

  constructor(private readonly view: JobsView) {
    this.element = h(
      'section',
      { class: 'card overview', 'aria-label': 'Overview' },
      h(
        'div',
        { class: 'head' },
        h('h2', {}, 'Over time'),
        h(
          'ul',
          { class: 'key' },
          TONES.map(([tone, word]) => key(tone, word)),
        ),
        windows(view),
      ),
      this.picture,
      spanForm(view),
      this.strip,
    );
  }

  /** Looks again. What cannot be had is said in its place. */
  async refresh(client: GridClient, signal: AbortSignal): Promise<void> {
    const { view } = this;
    const step = Math.max(1, Math.ceil(view.seconds / 120));
    const from = new Date(Date.now() - view.seconds * 1000).toISOString();
    const [timeline, sites] = await Promise.allSettled([
      client.showJobTimeline({ ...view.query('status', 'span'), from, step }, { signal }),
      client.summarizeJobs(
        { ...view.query('site', 'status'), group: ['site', 'status'] },
        { signal },
      ),
    ]);
    if (signal.aborted) return;
    if (timeline.status === 'rejected') update(this.picture, faultBox(timeline.reason));
    else if (!this.picture.querySelector('.drawing')) {
      this.picture.replaceChildren(chartOf(timeline.value, view));
    }
    if (sites.status === 'rejected') update(this.strip, faultBox(sites.reason));
    else update(this.strip, siteStrip(sites.value, view));
  }
}

function chartOf({ from, to, series }: JobTimelineResponse, view: JobsView): HTMLElement {
  const steps = series[0]?.counts.length ?? 0;
  const layers: Layer[] = TONES.map(([tone]) => {
    const own = series.filter(({ status }) => toneOf(status) === tone);
    const counts = Array.from({ length: steps }, (_, step) =>
      own.reduce((sum, one) => sum + (one.counts[step] ?? 0), 0),
    );
    const [before = 0] = counts;
    const shown = ENDED.has(tone) ? counts.map((value) => Math.max(0, value - before)) : counts;
    return { tone, counts: shown };
  });
  if (steps === 0) return h('p', { class: 'soft' }, 'No jobs in this time.');
  const words = TONES.map(([, word], index) => `${layers[index]?.counts.at(-1) ?? 0} ${word}`);
  const { span } = view;
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const isMarked = span.from !== undefined || span.to !== undefined;
  return areaChart({
    ...{ layers, from: start, to: end },
    label: `Jobs in the last ${view.window}, now ${words.join(', ')}`,
    span: isMarked
      ? { from: Date.parse(span.from ?? from), to: Date.parse(span.to ?? to) }
      : undefined,
    choose: (chosen) =>
      view
        .withSpan({
          from: new Date(chosen.from).toISOString(),
          to: new Date(chosen.to).toISOString(),
        })
        .open(),
  });
}

function key(tone: Tone, word: string): HTMLElement {
  const square = svg(
    'svg',
    { viewBox: '0 0 10 10', 'aria-hidden': 'true', focusable: 'false' },
    svg('rect', { class: `area ${tone}`, width: 10, height: 10, rx: 2 }),
  );
  return h('li', {}, square, word);
}

function windows(view: JobsView): HTMLElement {
  const select = h(
    'select',
    { id: 'window', onChange: () => view.withWindow(select.value).open() },
    Object.keys(WINDOWS).map((name) =>
      h('option', { value: name, selected: name === view.window }, `last ${name}`),
    ),
  );
  return h('label', { class: 'switch' }, h('span', { class: 'unseen' }, 'Time shown'), select);
}

/** The same choice without drawing: jobs that moved last between two times. */
function spanForm(view: JobsView): HTMLElement {
  const input = (id: string, label: string, value: string | undefined): HTMLInputElement =>
    h('input', {
      ...{ type: 'datetime-local', id, step: 1, 'aria-label': label },
      value: value === undefined ? '' : localOf(value),
    });
  const from = input('span-from', 'Moved from', view.span.from);
  const to = input('span-to', 'Moved to', view.span.to);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const read = ({ value }: HTMLInputElement): string | undefined =>
      value === '' ? undefined : new Date(value).toISOString();
    const [start, end] = [read(from), read(to)];
    view
      .withSpan({
        ...(start !== undefined && { from: start }),
        ...(end !== undefined && { to: end }),
      })
      .open();
  };
  const isSet = view.span.from !== undefined || view.span.to !== undefined;
  return h(
    'form',
    { class: 'span-form', onSubmit },
    h('span', { class: 'soft' }, 'Draw over the chart, or jobs that moved last from'),
    from,
    h('span', { class: 'soft' }, 'to'),
    to,
    h('button', { class: 'plain small', 'aria-label': 'Show jobs of this time' }, 'Go'),
    isSet && h('a', { class: 'button plain small', href: view.withSpan({}).hash }, 'Any time'),
  );
}

function localOf(time: string): string {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** A bar for each site, of what its jobs are at. */
function siteStrip(summary: JobSummary, view: JobsView): Child {
  const sites = new Map<string, Map<Tone, number>>();
  for (const [name, number] of Object.entries(summary)) {
    const [site, status] = splitLast(name);
    const tones = sites.get(site) ?? new Map<Tone, number>();
    tones.set(toneOf(status), (tones.get(toneOf(status)) ?? 0) + number);
    sites.set(site, tones);
  }
  if (sites.size === 0) return undefined;
  const total = (tones: Map<Tone, number>): number =>
    [...tones.values()].reduce((sum, number) => sum + number, 0);
  const rows = [...sites].sort(([, a], [, b]) => total(b) - total(a));
  const most = Math.max(...rows.map(([, tones]) => total(tones)));
  const hidden = rows.length - MOST_SITES;
  return [
    h('h2', {}, 'By site'),
    h(
      'ul',
      { class: 'sites' },
      rows.slice(0, MOST_SITES).map(([site, tones]) => siteRow(site, tones, most, view)),
    ),
    hidden > 0 && h('p', { class: 'soft' }, `and ${count(hidden)} more sites`),
  ];
}

function siteRow(
  site: string,
  tones: Map<Tone, number>,
  most: number,
  view: JobsView,
): HTMLElement {
  const isChosen = view.chosen.site === site;
  let x = 0;
  const parts = TONES.flatMap(([tone]) => {
    const width = ((tones.get(tone) ?? 0) / most) * 100;
    const bar = svg('rect', { class: `area ${tone}`, x, y: 0, width, height: 10 });
    x += width;
    return width > 0 ? [bar] : [];
  });
  const words = TONES.filter(([tone]) => tones.has(tone))
    .map(([tone, word]) => `${count(tones.get(tone) ?? 0)} ${word}`)
    .join(', ');
  return h(
    'li',
    {},
    h(
      'a',
      {
        id: `site-${site}`,
        href: view.with({ site: isChosen ? undefined : site }).hash,
        'aria-current': isChosen ? 'true' : undefined,
      },
      site,
    ),
    h('span', { class: 'soft' }, words),
    svg(
      'svg',
      { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      parts,
    ),
  );
}

/** Names of sites may have bars of their own; states have none. */
function splitLast(name: string): [string, string] {
  const bar = name.lastIndexOf('|');
  return [name.slice(0, bar), name.slice(bar + 1)];
}
