import type { Job } from '../state/job.entity.js';
import { isFinal, isRunning } from '../state/job-state.js';

/** Where the output of a job is to be had: from its run, from its output sandbox, or it has not begun. */
export type OutputPlace = 'run' | 'sandbox' | 'nowhere yet';

/** An ended job that an executor still holds is being ended: its sandbox is not there yet. */
export function placeOf({ status, executor }: Pick<Job, 'status' | 'executor'>): OutputPlace {
  if (isFinal(status)) return executor === null ? 'sandbox' : 'run';
  return isRunning(status) || status === 'Completed' ? 'run' : 'nowhere yet';
}
