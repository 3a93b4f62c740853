/** Colour of a state in chart and labels. */
export type Tone = 'wait' | 'run' | 'good' | 'bad' | 'off';

const TONES: Record<string, Tone> = {
  Running: 'run',
  Completing: 'run',
  Completed: 'run',
  Matched: 'run',
  Done: 'good',
  Failed: 'bad',
  Stalled: 'bad',
  Killed: 'off',
  Deleted: 'off',
};

/** The order in which a job passes its states; charts and legends keep to it. */
const ORDER = [
  'Submitting',
  'Received',
  'Checking',
  'Scouting',
  'Staging',
  'Waiting',
  'Rescheduled',
  'Matched',
  'Running',
  'Stalled',
  'Completing',
  'Completed',
  'Done',
  'Failed',
  'Killed',
  'Deleted',
];
const FINAL = new Set(['Done', 'Failed', 'Killed', 'Deleted']);

export function toneOf(status: string): Tone {
  return TONES[status] ?? 'wait';
}

/** True when nothing will change any more by itself. */
export function isFinal(status: string): boolean {
  return FINAL.has(status);
}

/** States with their numbers, in the order of a job's life. */
export function inOrder(summary: Record<string, number>): [string, number][] {
  return Object.entries(summary)
    .filter(([, number]) => number > 0)
    .sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
}
