import { MINOR } from '../../state/job-state.js';
import type { Verdict } from '../../run/run-verdict.js';
import type { BatchAccount } from './batch-accounts.js';
import type { SlurmJob } from './slurm-api.js';

/**
 * What the controller's table says about a run that shows no sign of life:
 * `alive` — waits or runs, as `job` tells · `forgotten` — shown as waiting although its start failed, and held · `gone` — over or
 * unknown, with Slurm's state (empty when unknown).
 */
export type ControllerView =
  { kind: 'alive'; job: SlurmJob } | { kind: 'forgotten' } | { kind: 'gone'; state: string };

const ALIVE: ReadonlySet<string> = new Set([
  ...['PENDING', 'CONFIGURING', 'RUNNING', 'SUSPENDED', 'COMPLETING', 'STAGE_OUT', 'SIGNALING'],
  ...['RESIZING', 'REQUEUED', 'REQUEUE_HOLD', 'REQUEUE_FED', 'SPECIAL_EXIT', 'RESV_DEL_HOLD'],
]);

/** By what the jobs of a batch are known: an id is given again by a controller that lost its state. */
export interface BatchSign {
  comment: string;
  account?: BatchAccount | undefined;
}

/** True for a job of the batch: others may write the same comment, but not under the same account. */
export function isOfBatch(job: SlurmJob, { comment, account }: BatchSign): boolean {
  if (job.comment !== comment) return false;
  if (account === undefined) return true;
  return job.user === '' ? job.uid === account.uid : job.user === account.name;
}

/** Looks a task up among the jobs that the controller remembers under the id of its array. */
export function viewOf(
  remembered: readonly SlurmJob[],
  batch: BatchSign,
  index: number,
): ControllerView {
  const jobs = remembered.filter((job) => isOfBatch(job, batch));
  const own = jobs.find((job) => job.index === index);
  const rest = jobs.find(
    (job) => job.index === undefined && (holds(job.waitingIndices, index) || isSingle(job)),
  );
  const job = own ?? rest;
  if (job === undefined) return { kind: 'gone', state: '' };
  if (isForgottenStart(job)) return { kind: 'forgotten' };
  return ALIVE.has(job.state) ? { kind: 'alive', job } : { kind: 'gone', state: job.state };
}

/** What a controller that was killed right after a start shows: PENDING, "launch failed requeued held". */
function isForgottenStart(job: SlurmJob): boolean {
  return job.state === 'PENDING' && /launch.?failed/i.test(job.reason);
}

/** A job that is no array at all. */
function isSingle(job: SlurmJob): boolean {
  return job.waitingIndices === '' && job.jobId === job.arrayId;
}

/** True when a list like `3,5-9,20-40:4%8` has the index. */
function holds(list: string, index: number): boolean {
  const text = list.replace(/%\d+$/, '').replaceAll(/[[\]]/g, '');
  return text.split(',').some((part) => {
    const match = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(part);
    if (match === null) return false;
    const [first, last, step] = [Number(match[1]), Number(match[2] ?? match[1]), match[3]];
    return index >= first && index <= last && (index - first) % Number(step ?? 1) === 0;
  });
}

/** States in which Slurm ends a job that never started, and does not say that it might work elsewhere. */
const GIVEN_UP: ReadonlySet<string> = new Set(['CANCELLED', 'TIMEOUT', 'DEADLINE', 'REVOKED']);

/** True when a run that certainly never started may be given back to the queue. */
export function mayTryAgain(state: string): boolean {
  return !GIVEN_UP.has(state);
}

/** What Slurm's state of a run means that was started and ended from outside. */
export function verdictOfState(state: string): Verdict {
  const rest = { isGood: false };
  switch (state) {
    case 'TIMEOUT':
    case 'DEADLINE':
      return { ...rest, minor: MINOR.wallClockLimit, app: `Slurm: ${state}` };
    case 'OUT_OF_MEMORY':
      return { ...rest, minor: MINOR.memoryLimit, app: `Slurm: ${state}` };
    case 'CANCELLED':
    case 'PREEMPTED':
      return { ...rest, minor: MINOR.threadFailed, app: `Slurm: ${state}` };
    case '':
      return { ...rest, minor: MINOR.pilotGone, app: 'Slurm does not know the job any more' };
    default:
      return { ...rest, minor: MINOR.pilotGone, app: `Slurm: ${state}, and no exit code was left` };
  }
}
