import { brush } from './brush.js';
import { h, svg } from './dom.js';
import { clock, count } from './format.js';
import type { Tone } from './states.js';

const WIDTH = 1_000;
const HEIGHT = 200;

/** A layer of the chart, from below. */
export interface Layer {
  tone: Tone;
  counts: readonly number[];
}

export interface AreaChart {
  label: string;
  layers: readonly Layer[];
  /** Milliseconds of the first and the last step. */
  from: number;
  to: number;
  /** What is marked. */
  span: { from: number; to: number } | undefined;
  choose: (span: { from: number; to: number }) => void;
}

/** Layers upon each other over time. Whoever draws over a part of it chooses that time. */
export function areaChart(chart: AreaChart): HTMLElement {
  const { layers, from, to, label, choose } = chart;
  const steps = layers[0]?.counts.length ?? 0;
  const tops = Array.from({ length: steps }, (_, step) =>
    layers.reduce((sum, { counts }) => sum + (counts[step] ?? 0), 0),
  );
  const most = Math.max(1, ...tops);
  const picture = svg(
    'svg',
    {
      ...{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', class: 'areas' },
      ...{ role: 'img', 'aria-label': label },
    },
    areas(layers, steps, most),
    marked(chart),
  );
  const time = (part: number): number => from + part * (to - from);
  brush(picture, { width: WIDTH, height: HEIGHT }, (start, end) =>
    choose({ from: time(start), to: time(end) }),
  );
  const times = [0, 0.25, 0.5, 0.75, 1].map(time);
  return h(
    'div',
    { class: 'area-chart' },
    h('span', { class: 'most soft' }, count(most)),
    picture,
    h(
      'div',
      { class: 'times soft', 'aria-hidden': 'true' },
      times.map((time) => h('span', {}, clock(time, to - from))),
    ),
  );
}

function areas(layers: readonly Layer[], steps: number, most: number): SVGElement[] {
  const base = new Array<number>(steps).fill(0);
  const x = (step: number): string => ((step / Math.max(1, steps - 1)) * WIDTH).toFixed(1);
  const y = (value: number): string => (HEIGHT - (value / most) * (HEIGHT - 4)).toFixed(1);
  return layers.map(({ tone, counts }) => {
    const lower = base.map((value, step) => `${x(step)},${y(value)}`).reverse();
    for (let step = 0; step < steps; step += 1) {
      base[step] = (base[step] ?? 0) + (counts[step] ?? 0);
    }
    const upper = base.map((value, step) => `${x(step)},${y(value)}`);
    return svg('polygon', { class: `area ${tone}`, points: [...upper, ...lower].join(' ') });
  });
}

function marked({ span, from, to }: AreaChart): SVGElement | undefined {
  if (!span) return undefined;
  const place = (time: number): number =>
    Math.min(WIDTH, Math.max(0, ((time - from) / (to - from)) * WIDTH));
  const [start, end] = [place(span.from), place(span.to)];
  if (end - start < 1) return undefined;
  return svg('rect', { class: 'span', x: start, y: 0, width: end - start, height: HEIGHT });
}
