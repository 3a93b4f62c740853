import type { ListJobsQuery } from 'gridgate/client';

/** Filters by their names in the address, and how they are asked for. */
const FILTERS = {
  status: 'status',
  minor: 'minorStatus',
  site: 'site',
  name: 'name',
  group: 'jobGroup',
  owner: 'owner',
  array: 'arrayId',
} as const;
export type FilterName = keyof typeof FILTERS;
const NAMES = Object.keys(FILTERS) as FilterName[];

/** How far the chart looks back, seconds. */
export const WINDOWS: Record<string, number> = {
  '10 minutes': 600,
  hour: 3_600,
  '6 hours': 21_600,
  day: 86_400,
  week: 604_800,
};
const USUAL = 'hour';

/** When jobs moved last: ISO instants. */
export interface Span {
  from: string;
  to: string;
}

/** Which jobs are looked at. All of it stands in the address, so that a view can be kept and sent to somebody. */
export class JobsView {
  private constructor(
    readonly chosen: Partial<Record<FilterName, string>>,
    readonly all: boolean,
    readonly window: string,
    readonly span: Partial<Span>,
  ) {}

  static of(query: URLSearchParams): JobsView {
    const chosen: Partial<Record<FilterName, string>> = {};
    for (const name of NAMES) {
      const value = query.get(name);
      if (value !== null && value !== '') chosen[name] = value;
    }
    const window = query.get('window') ?? '';
    const [from, to] = [instant(query.get('from')), instant(query.get('to'))];
    return new JobsView(
      chosen,
      query.get('all') === 'true',
      Object.hasOwn(WINDOWS, window) ? window : USUAL,
      { ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
    );
  }

  get seconds(): number {
    return WINDOWS[this.window] ?? 3_600;
  }

  /** The address says something about time, which the charts show. */
  get isOfTime(): boolean {
    const { from, to } = this.span;
    return this.window !== USUAL || (from !== undefined && to !== undefined);
  }

  get isFiltered(): boolean {
    const { from, to } = this.span;
    return Object.keys(this.chosen).length > 0 || from !== undefined || to !== undefined;
  }

  /** The query of the service, but for some filters. */
  query(...without: (FilterName | 'span')[]): Pick<ListJobsQuery, 'allOwners'> {
    const { from, to } = this.span;
    const wish: Record<string, unknown> = { allOwners: this.all };
    for (const name of NAMES) {
      const value = this.chosen[name];
      if (value !== undefined && !without.includes(name)) wish[FILTERS[name]] = [value];
    }
    if (!without.includes('span')) {
      if (from !== undefined) wish['fromDate'] = from;
      if (to !== undefined) wish['toDate'] = to;
    }
    return wish;
  }

  /** The address of this view with other filters; undefined takes one away. */
  with(change: Partial<Record<FilterName, string | undefined>>): JobsView {
    const next: Partial<Record<FilterName, string>> = {};
    for (const name of NAMES) {
      const value = name in change ? change[name] : this.chosen[name];
      if (value !== undefined && value !== '') next[name] = value;
    }
    return new JobsView(next, this.all, this.window, this.span);
  }

  withAll(all: boolean): JobsView {
    return new JobsView(this.chosen, all, this.window, this.span);
  }

  withWindow(window: string): JobsView {
    return new JobsView(this.chosen, this.all, window, this.span);
  }

  withSpan(span: Partial<Span>): JobsView {
    return new JobsView(this.chosen, this.all, this.window, span);
  }

  get hash(): string {
    const query = new URLSearchParams(this.chosen);
    if (this.all) query.set('all', 'true');
    if (this.window !== USUAL) query.set('window', this.window);
    if (this.span.from !== undefined) query.set('from', this.span.from);
    if (this.span.to !== undefined) query.set('to', this.span.to);
    const text = query.toString();
    return text === '' ? '#/jobs' : `#/jobs?${text}`;
  }

  open(): void {
    location.hash = this.hash;
  }
}

/** What is no time counts as none. */
function instant(text: string | null): string | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
