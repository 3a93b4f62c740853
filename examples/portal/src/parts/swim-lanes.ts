import type { JobHistoryEntry } from 'gridgate/client';
import { h, svg, type Child } from './dom.js';
import { clock, duration } from './format.js';
import { isFinal, toneOf, type Tone } from './states.js';

const WIDTH = 1_000;
const ROW = 28;

/** The ways of a job, from the left above. */
const LANES: [string, ReadonlySet<string>][] = [
  ['Checked', new Set(['Submitting', 'Received', 'Checking', 'Scouting', 'Staging'])],
  ['In the queue', new Set(['Waiting', 'Rescheduled'])],
  ['Given to a site', new Set(['Matched'])],
  ['At work', new Set(['Running', 'Stalled'])],
  ['Output collected', new Set(['Completing', 'Completed'])],
];

interface Stay {
  lane: number;
  tone: Tone;
  from: number;
  to: number;
}

/** Where a job has been, and how long: a bar for each stay, and the sums in words. */
export function swimLanes(history: readonly JobHistoryEntry[], now: number): Child {
  const stays = staysOf(history, now);
  const [first] = stays;
  if (!first) return undefined;
  const start = first.from;
  const end = Math.max(start + 1, ...stays.map(({ to }) => to));
  const used = LANES.flatMap((_, lane) => (stays.some((stay) => stay.lane === lane) ? [lane] : []));
  const x = (time: number): number => ((time - start) / (end - start)) * WIDTH;
  const bars = stays.map(({ lane, tone, from, to }) =>
    svg('rect', {
      ...{
        class: `area ${tone}`,
        x: Math.min(WIDTH - 3, x(from)).toFixed(1),
        y: used.indexOf(lane) * ROW + 6,
        rx: 3,
      },
      ...{ width: Math.max(3, x(to) - x(from)).toFixed(1), height: ROW - 12 },
    }),
  );
  const sums = used.map((lane) => {
    const sum = stays.reduce(
      (all, stay) => all + (stay.lane === lane ? stay.to - stay.from : 0),
      0,
    );
    return h('div', {}, h('dt', {}, LANES[lane]?.[0]), h('dd', {}, duration(sum)));
  });
  const height = used.length * ROW;
  return h(
    'div',
    { class: 'lanes' },
    h('dl', { class: 'lane-names' }, sums),
    h(
      'div',
      { class: 'lane-bars' },
      svg(
        'svg',
        {
          ...{ viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: 'none', height },
          ...{ 'aria-hidden': 'true', focusable: 'false' },
        },
        bars,
      ),
      h(
        'div',
        { class: 'times soft', 'aria-hidden': 'true' },
        h('span', {}, clock(start, end - start)),
        h('span', {}, duration(end - start)),
        h('span', {}, clock(end, end - start)),
      ),
    ),
  );
}

/** From each move to the next one; what has not ended goes on until now. */
function staysOf(history: readonly JobHistoryEntry[], now: number): Stay[] {
  return history.flatMap(({ status, time }, index) => {
    const lane = LANES.findIndex(([, states]) => states.has(status));
    if (lane < 0 || isFinal(status)) return [];
    const from = Date.parse(time);
    const next = history[index + 1];
    const to = next ? Date.parse(next.time) : Math.max(from, now);
    return [{ lane, tone: toneOf(status), from, to }];
  });
}
