import type { JobResponse, JobSummary } from 'gridgate/client';
import { h, type Child } from '../../parts/dom.js';
import { count } from '../../parts/format.js';
import type { Selection } from './selection.js';
import type { JobsView } from './view.js';

const MOST = 8;

/** A cause, and how many jobs it has ended. */
export type Cause = [minorStatus: string, number: number];

export function causesOf(summary: JobSummary): Cause[] {
  return Object.entries(summary).sort(([, a], [, b]) => b - a);
}

/** Of chosen jobs. */
export function causesAmong(jobs: readonly JobResponse[]): Cause[] {
  const causes = new Map<string, number>();
  for (const { status, minorStatus } of jobs) {
    if (status === 'Failed') causes.set(minorStatus, (causes.get(minorStatus) ?? 0) + 1);
  }
  return [...causes].sort(([, a], [, b]) => b - a);
}

/** Why jobs have failed, the commonest cause first: of the chosen ones, or of all that are shown. */
export function causeSection(
  causes: readonly Cause[],
  view: JobsView,
  selection: Selection,
  chooseAll: (minorStatus: string) => void,
): Child {
  if (causes.length === 0) return undefined;
  const isOfChosen = selection.size > 0;
  const rows = causes.slice(0, MOST).map(([minorStatus, number]) => {
    const only = view.with({ status: 'Failed', minor: minorStatus }).hash;
    return h(
      'li',
      {},
      h('b', { class: 'number' }, count(number)),
      h('a', { class: 'file', href: only }, minorStatus),
      h(
        'button',
        {
          type: 'button',
          class: 'plain small',
          'aria-label': `${isOfChosen ? 'Keep' : 'Choose'} those with ${minorStatus}`,
          onClick: () => chooseAll(minorStatus),
        },
        isOfChosen ? 'Keep these only' : 'Choose these',
      ),
    );
  });
  const hidden = causes.length - MOST;
  return h(
    'section',
    { class: 'card', 'aria-label': 'Causes of failures' },
    h('h2', {}, isOfChosen ? 'Why the chosen ones failed' : 'Why jobs failed'),
    h('ul', { class: 'files' }, rows),
    hidden > 0 && h('p', { class: 'soft' }, `and ${count(hidden)} more causes`),
  );
}
