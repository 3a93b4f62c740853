import { h, svg } from './dom.js';
import { count } from './format.js';
import { inOrder, toneOf } from './states.js';

const RADIUS = 42;
const ROUND = 2 * Math.PI * RADIUS;
const GAP = 2;

/** How many jobs are in which state: a ring for the eyes, beside the list that says the same in words. */
export function stateChart(...list: Parameters<typeof stateList>): HTMLElement {
  return h('div', { class: 'chart' }, stateRing(list[0]), stateList(...list));
}

/** A button for each state with the number of its jobs, which filters them. */
export function stateList(
  summary: Record<string, number>,
  chosen: string | undefined,
  choose: (status: string | undefined) => void,
): HTMLElement {
  return h(
    'ul',
    { class: 'legend', 'aria-label': 'Jobs by state' },
    inOrder(summary).map(([status, number]) =>
      h(
        'li',
        {},
        h(
          'button',
          {
            type: 'button',
            class: `chip ${toneOf(status)}`,
            id: `state-${status}`,
            'aria-pressed': String(status === chosen),
            onClick: () => choose(status === chosen ? undefined : status),
          },
          h('b', {}, count(number)),
          ` ${status}`,
        ),
      ),
    ),
  );
}

export function stateRing(summary: Record<string, number>): SVGElement {
  const states = inOrder(summary);
  const total = states.reduce((sum, [, number]) => sum + number, 0);
  let start = 0;
  const arcs = states.map(([status, number]) => {
    const length = (number / total) * ROUND;
    const shown = states.length > 1 ? Math.max(length - GAP, 1) : length;
    const arc = svg('circle', {
      class: `arc ${toneOf(status)}`,
      cx: 50,
      cy: 50,
      r: RADIUS,
      'stroke-dasharray': `${shown} ${ROUND - shown}`,
      'stroke-dashoffset': -start,
      transform: 'rotate(-90 50 50)',
    });
    start += length;
    return arc;
  });
  return svg(
    'svg',
    { viewBox: '0 0 100 100', class: 'ring', 'aria-hidden': 'true', focusable: 'false' },
    svg('circle', { class: 'arc none', cx: 50, cy: 50, r: RADIUS }),
    arcs,
    svg('text', { x: 50, y: 50, class: 'total' }, count(total)),
    svg('text', { x: 50, y: 63, class: 'unit' }, total === 1 ? 'job' : 'jobs'),
  );
}
