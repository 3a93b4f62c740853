import { h, svg, type Child } from './dom.js';

/** What somebody has had beside what is due; parts of 1. */
export interface Bar {
  name: string;
  used: number;
  due: number;
  note: string;
}

const WIDTH = 100;
const HEIGHT = 8;

/** A bar for each: what was used, and a mark at what is due. The words beside say the same. */
export function shareBars(label: string, bars: readonly Bar[]): HTMLElement {
  return h(
    'ul',
    { class: 'shares', 'aria-label': label },
    bars.map(({ name, used, due, note }) =>
      h(
        'li',
        {},
        h('b', {}, name),
        h('span', { class: 'soft' }, `used ${percent(used)}, due ${percent(due)}${note}`),
        picture(used, due),
      ),
    ),
  );
}

function picture(used: number, due: number): Child {
  const isOver = used > due;
  return svg(
    'svg',
    {
      ...{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' },
      ...{ 'aria-hidden': 'true', focusable: 'false' },
    },
    svg('rect', { class: 'all', x: 0, y: 1, width: WIDTH, height: HEIGHT - 2 }),
    svg('rect', {
      ...{ class: isOver ? 'used over' : 'used', x: 0, y: 1 },
      ...{ width: used * WIDTH, height: HEIGHT - 2 },
    }),
    svg('rect', {
      class: 'due',
      x: Math.min(due * WIDTH, WIDTH - 0.6),
      y: 0,
      width: 0.6,
      height: HEIGHT,
    }),
  );
}

function percent(part: number): string {
  return `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`;
}
