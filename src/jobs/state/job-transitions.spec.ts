import { JOB_STATE_NAMES, type JobState } from './job-state.js';
import {
  assertPath,
  DELETABLE_STATES,
  JOB_TRANSITIONS,
  KILLABLE_STATES,
  mayMove,
  RESCHEDULABLE_STATES,
} from './job-transitions.js';

/** Table 2.3 of the reference, with Deleted truly final. */
const EXPECTED: Record<string, string[]> = {
  Submitting: ['Received', 'Checking', 'Deleted', 'Killed'],
  Received: ['Scouting', 'Checking', 'Waiting', 'Failed', 'Deleted', 'Killed'],
  Checking: ['Scouting', 'Staging', 'Waiting', 'Rescheduled', 'Failed', 'Deleted', 'Killed'],
  Scouting: ['Checking', 'Failed', 'Stalled', 'Killed'],
  Staging: ['Checking', 'Waiting', 'Failed', 'Killed'],
  Waiting: ['Matched', 'Rescheduled', 'Failed', 'Deleted', 'Killed'],
  Matched: ['Running', 'Failed', 'Rescheduled', 'Killed'],
  Rescheduled: ['Waiting', 'Received', 'Deleted', 'Failed', 'Killed'],
  Running: ['Stalled', 'Done', 'Failed', 'Rescheduled', 'Completing', 'Killed', 'Received'],
  Stalled: ['Running', 'Failed', 'Killed'],
  Completing: ['Done', 'Failed', 'Completed', 'Stalled', 'Killed'],
  Completed: ['Done', 'Failed'],
  Done: ['Deleted'],
  Failed: ['Rescheduled', 'Deleted'],
  Killed: ['Deleted'],
  Deleted: [],
};

describe('transitions of jobs', () => {
  it.each(JOB_STATE_NAMES)('allows from %s exactly what the table says', (from) => {
    const next = JOB_STATE_NAMES.filter((to) => mayMove(from, to));
    expect(next.sort()).toEqual([...(EXPECTED[from] ?? [])].sort());
  });

  it('has each move once', () => {
    const moves = JOB_TRANSITIONS.map(({ from, to }) => `${from} ${to}`);
    expect(new Set(moves).size).toBe(moves.length);
  });

  it('has none from a state that there is not', () => {
    expect(mayMove('Nowhere' as JobState, 'Done')).toBe(false);
  });

  it('knows what may be killed, deleted and rescheduled', () => {
    expect([...KILLABLE_STATES].sort()).toEqual(
      JOB_STATE_NAMES.filter(
        (s) => !['Completed', 'Done', 'Failed', 'Killed', 'Deleted'].includes(s),
      ).sort(),
    );
    expect(DELETABLE_STATES).toEqual([
      'Submitting',
      'Received',
      'Checking',
      'Waiting',
      'Rescheduled',
      'Done',
      'Failed',
      'Killed',
    ]);
    expect(RESCHEDULABLE_STATES).toEqual(['Checking', 'Waiting', 'Matched', 'Running', 'Failed']);
  });

  it('refuses a path with a step that is not in the table', () => {
    expect(() => assertPath(['Matched', 'Rescheduled', 'Waiting'])).not.toThrow();
    expect(() => assertPath(['Killed', 'Running'])).toThrow('no move Killed → Running');
  });
});
