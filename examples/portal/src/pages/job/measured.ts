import type { JobParameters } from 'gridgate/client';
import { h, svg, type Child } from '../../parts/dom.js';

const SHARES: [string, string][] = [
  ['CPUEfficiency(%)', 'Processor time used of what it had'],
  ['MemoryEfficiency(%)', 'Memory used of what it had'],
];

/** How much of what it was given a job has used, and everything else that was measured. */
export function measuredSection(parameters: JobParameters): Child {
  const entries = Object.entries(parameters);
  if (entries.length === 0) return undefined;
  const shares = SHARES.flatMap(([name, title]) => {
    const value = parameters[name];
    return typeof value === 'number' ? [share(title, value)] : [];
  });
  const others = entries
    .filter(([name]) => !SHARES.some(([one]) => one === name))
    .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, String(value))));
  return h(
    'section',
    { class: 'card' },
    h('h2', {}, 'Measured'),
    shares.length > 0 && h('ul', { class: 'shares', 'aria-label': 'Efficiency' }, shares),
    h('dl', { class: 'facts' }, others),
  );
}

function share(title: string, percent: number): HTMLElement {
  const width = Math.min(100, percent);
  return h(
    'li',
    {},
    h('b', {}, `${percent} %`),
    h('span', { class: 'soft' }, title),
    svg(
      'svg',
      { viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      svg('rect', { class: 'all', x: 0, y: 1, width: 100, height: 6 }),
      svg('rect', { class: percent > 100 ? 'used over' : 'used', x: 0, y: 1, width, height: 6 }),
    ),
  );
}
