import type { JobResponse } from 'gridgate/client';
import { h, update, type Child } from '../../parts/dom.js';
import { stateLabel, timeText } from '../../parts/pieces.js';
import type { Selection } from './selection.js';

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
    cell: ({ jid, arrayId }) => [
      h('a', { href: `#/jobs/${jid}`, id: `job-${jid}` }, jid),
      arrayId !== undefined &&
        h('small', {}, h('a', { href: `#/arrays/${arrayId}` }, `array ${arrayId}`)),
    ],
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

/** Jobs, newest first, each with a box to choose it. Arrows go from row to row. */
export class JobTable {
  private readonly rows = h('tbody', { onKeyDown: (event: KeyboardEvent) => walk(event) });
  private readonly all = h('input', {
    type: 'checkbox',
    id: 'choose-shown',
    'aria-label': 'Choose all that are shown',
    onChange: () => this.selection.choose(this.jobs, this.all.checked),
  });
  private jobs: JobResponse[] = [];
  readonly element: HTMLElement;

  constructor(
    private readonly selection: Selection,
    private readonly allOwners: boolean,
  ) {
    const headings = this.columns.map(({ heading }) => h('th', { scope: 'col' }, heading));
    this.element = h(
      'table',
      { class: 'jobs', hidden: true },
      h('caption', { class: 'unseen' }, 'Jobs, newest first'),
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, this.all), headings)),
      this.rows,
    );
  }

  show(jobs: JobResponse[]): void {
    this.jobs = jobs;
    this.element.hidden = jobs.length === 0;
    update(
      this.rows,
      jobs.map((job) => this.row(job)),
    );
    this.mark();
  }

  /** The boxes say what is chosen. */
  mark(): void {
    for (const box of this.rows.querySelectorAll<HTMLInputElement>('input[data-jid]')) {
      box.checked = this.selection.has(Number(box.dataset['jid']));
    }
    const chosen = this.jobs.filter(({ jid }) => this.selection.has(jid)).length;
    this.all.checked = chosen > 0 && chosen === this.jobs.length;
    this.all.indeterminate = chosen > 0 && chosen < this.jobs.length;
  }

  private get columns(): Column[] {
    return COLUMNS.filter(({ ofAll }) => this.allOwners || !ofAll);
  }

  private row(job: JobResponse): HTMLElement {
    const { jid } = job;
    const onChange = (event: Event): void => {
      const now = this.jobs.find((one) => one.jid === jid) ?? job;
      this.selection.choose([now], (event.target as HTMLInputElement).checked);
    };
    const box = h('input', {
      ...{ type: 'checkbox', id: `choose-${jid}`, 'data-jid': String(jid) },
      ...{ 'aria-label': `Choose job ${jid}`, onChange },
    });
    const cells = this.columns.map(({ heading, className, cell }) =>
      h('td', { 'data-label': heading, class: className }, cell(job)),
    );
    return h('tr', {}, h('td', { class: 'choose' }, box), cells);
  }
}

/** Up and down go to the same thing in the next row. */
function walk(event: KeyboardEvent): void {
  const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key] as
    'nextElementSibling' | 'previousElementSibling' | undefined;
  const here = event.target as HTMLElement;
  const next = step && here.closest('tr')?.[step];
  if (!next) return;
  const like = here instanceof HTMLInputElement ? 'input' : 'a';
  next.querySelector<HTMLElement>(like)?.focus();
  event.preventDefault();
}
