import { JOB_STATE_NAMES, type JobState } from './job-state.js';

/** Who makes a move. */
export type Mover = 'submit' | 'optimizer' | 'dispatcher' | 'executor' | 'reaper' | 'user';

interface Transition {
  from: JobState;
  to: JobState;
  by: readonly Mover[];
  why: string;
}

/**
 * THE table of allowed moves (Deleted is final). Everything that changes a state asks it, the
 * SQL of JobsRepository.move included; docs/job-states.md is printed from it.
 */
export const JOB_TRANSITIONS: readonly Transition[] = [
  ...moves('Submitting', ['Received', 'Checking'], ['submit'], 'confirmed'),
  ...moves('Submitting', ['Killed', 'Deleted'], ['user'], 'killed or deleted by a person'),
  ...moves('Received', ['Checking', 'Scouting', 'Waiting'], ['submit', 'optimizer'], 'admission'),
  ...moves('Received', ['Failed'], ['optimizer'], 'admission found that it cannot run'),
  ...moves('Received', ['Killed', 'Deleted'], ['user'], 'killed or deleted by a person'),
  ...moves('Checking', ['Scouting', 'Staging', 'Waiting'], ['submit', 'optimizer'], 'admission'),
  ...moves('Checking', ['Failed'], ['optimizer'], 'its input data is not available'),
  ...moves('Checking', ['Rescheduled', 'Killed', 'Deleted'], ['user'], 'asked for by a person'),
  ...moves('Scouting', ['Checking', 'Failed', 'Stalled'], ['optimizer'], 'the scout reported'),
  ...moves('Scouting', ['Killed'], ['user'], 'killed by a person'),
  ...moves('Staging', ['Checking', 'Waiting', 'Failed'], ['optimizer'], 'staging ended'),
  ...moves('Staging', ['Killed'], ['user'], 'killed by a person'),
  ...moves('Waiting', ['Matched'], ['dispatcher'], 'a site has a free slot'),
  ...moves('Waiting', ['Failed'], ['dispatcher'], 'what it waits for cannot come true any more'),
  ...moves('Waiting', ['Rescheduled', 'Killed', 'Deleted'], ['user'], 'asked for by a person'),
  ...moves('Matched', ['Running'], ['executor'], 'the permission to start its program'),
  ...moves('Matched', ['Failed'], ['executor', 'reaper'], 'it cannot be started'),
  ...moves('Matched', ['Rescheduled'], ['dispatcher', 'reaper', 'user'], 'given back unstarted'),
  ...moves('Matched', ['Killed'], ['user'], 'killed by a person'),
  ...moves(
    'Rescheduled',
    ['Waiting', 'Received'],
    ['dispatcher', 'reaper', 'user'],
    'queued again',
  ),
  ...moves('Rescheduled', ['Failed'], ['user'], 'rescheduled too often'),
  ...moves('Rescheduled', ['Killed', 'Deleted'], ['user'], 'killed or deleted by a person'),
  ...moves('Running', ['Completing', 'Done'], ['executor'], 'its program has ended'),
  ...moves('Running', ['Failed'], ['executor', 'reaper'], 'a limit, a fault, or an unknown end'),
  ...moves('Running', ['Stalled'], ['reaper'], 'no sign of life'),
  ...moves('Running', ['Rescheduled', 'Received'], ['reaper', 'user'], 'certainly not started'),
  ...moves('Running', ['Killed'], ['user'], 'killed by a person'),
  ...moves('Stalled', ['Running'], ['executor', 'reaper'], 'a sign of life again'),
  ...moves('Stalled', ['Failed'], ['reaper'], 'silent for too long'),
  ...moves('Stalled', ['Killed'], ['user'], 'killed by a person'),
  ...moves('Completing', ['Completed', 'Done', 'Failed'], ['executor'], 'output collected or lost'),
  ...moves('Completing', ['Stalled'], ['reaper'], 'no sign of life'),
  ...moves('Completing', ['Killed'], ['user'], 'killed by a person'),
  ...moves('Completed', ['Done', 'Failed'], ['executor', 'reaper'], 'accounted'),
  ...moves('Done', ['Deleted'], ['user'], 'deleted by a person'),
  ...moves('Failed', ['Rescheduled', 'Deleted'], ['user'], 'tried again or deleted by a person'),
  ...moves('Killed', ['Deleted'], ['user'], 'deleted by a person'),
];

function moves(
  from: JobState,
  targets: readonly JobState[],
  by: readonly Mover[],
  why: string,
): Transition[] {
  return targets.map((to) => ({ from, to, by, why }));
}

const NEXT = new Map<JobState, ReadonlySet<JobState>>(
  JOB_STATE_NAMES.map((from) => [
    from,
    new Set(JOB_TRANSITIONS.filter((row) => row.from === from).map((row) => row.to)),
  ]),
);

/** True when the table has the move. */
export function mayMove(from: JobState, to: JobState): boolean {
  return NEXT.get(from)?.has(to) ?? false;
}

/** The states from which the table leads to `to` in one move. */
export function statesBefore(to: JobState): JobState[] {
  return JOB_STATE_NAMES.filter((from) => mayMove(from, to));
}

/** States that a kill may find and end. */
export const KILLABLE_STATES: readonly JobState[] = statesBefore('Killed');

/** States from which a job may be rescheduled. */
export const RESCHEDULABLE_STATES: readonly JobState[] = statesBefore('Rescheduled');

/** States that go straight to Deleted. */
export const DELETABLE_STATES: readonly JobState[] = statesBefore('Deleted');

/** Throws when a step of the path is not in the table: a programming error, never a caller's. */
export function assertPath(path: readonly JobState[]): void {
  for (let index = 1; index < path.length; index += 1) {
    const from = path[index - 1] as JobState;
    const to = path[index] as JobState;
    if (!mayMove(from, to)) throw new Error(`no move ${from} → ${to} in the table`);
  }
}
