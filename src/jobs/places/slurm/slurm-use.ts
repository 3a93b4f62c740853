import type { Answer } from './slurm-connection.js';

/** What a job has used, by Slurm's accounting. */
export interface BatchUse {
  wallSeconds: number;
  cpuSeconds: number;
  /** The most that a task of one step had at one time. */
  maxRssBytes?: number;
  /** What Slurm gave it: often whole cores or nodes, more than it asked for. */
  processors: number;
  /** MB of 2^20 bytes. */
  memoryMb?: number;
}

/** By what the accounts of a run are recognised: a number that a node wrote is believed only with them. */
export interface UseOf {
  jobId: number;
  arrayId: number;
  /** Of the task; undefined for a job that is no array. */
  index: number | undefined;
  account: string;
}

/**
 * Reads an answer of `GET /slurmdb/v0.0.38/job/<id>`. Undefined while the accounting does not know that the job and
 * all of its steps have ended, for a job of somebody else, and when nothing was measured (`jobacct_gather/none`).
 * In steps `tres.requested` is what they used (`tres_usage_in` of slurmdbd), memory in bytes.
 */
export function useIn(answer: Answer, of: UseOf): BatchUse | undefined {
  const job = listOf(answer['jobs']).find((row) => isOf(row, of));
  if (job === undefined) return undefined;
  const steps = listOf(at(job, 'steps'));
  const isOver =
    steps.length > 0 && [job, ...steps].every((row) => numberAt(row, 'time', 'end') > 0);
  if (!isOver) return undefined;
  const cpuSeconds = sum(steps.map(cpuOf));
  const maxRssBytes = Math.max(0, ...steps.map((step) => tresOf(step, 'requested', 'max')('mem')));
  if (cpuSeconds === 0 && maxRssBytes === 0) return undefined;
  const given = tresOf(job, 'allocated');
  return {
    wallSeconds: numberAt(job, 'time', 'elapsed'),
    cpuSeconds: Math.round(cpuSeconds * 1000) / 1000,
    processors: given('cpu') || numberAt(job, 'required', 'CPUs') || 1,
    ...(maxRssBytes > 0 ? { maxRssBytes } : {}),
    ...(given('mem') > 0 ? { memoryMb: given('mem') } : {}),
  };
}

/** An account without an association in slurmdbd has no name there. */
function isOf(job: unknown, { jobId, arrayId, index, account }: UseOf): boolean {
  const user = at(job, 'user');
  if (at(job, 'job_id') !== jobId || (typeof user === 'string' && user !== account)) return false;
  if (index === undefined) return jobId === arrayId;
  return at(job, 'array', 'job_id') === arrayId && at(job, 'array', 'task_id') === index;
}

function cpuOf(step: unknown): number {
  const seconds = numberAt(step, 'time', 'total', 'seconds');
  return seconds + numberAt(step, 'time', 'total', 'microseconds') / 1e6;
}

/** Counts of a list of `{type, count}`. */
function tresOf(row: unknown, ...path: string[]): (type: string) => number {
  const list = listOf(at(row, 'tres', ...path));
  return (type) => {
    const entry = list.find((tres) => at(tres, 'type') === type);
    return Math.max(0, numberAt(entry, 'count'));
  };
}

function at(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name))
      return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function numberAt(value: unknown, ...path: string[]): number {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : 0;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
