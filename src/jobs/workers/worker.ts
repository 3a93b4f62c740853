import { Problem } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { silenceOf } from '../matching/dispatch.repository.js';

/**
 * Channel of the change feed that says: the claim of a worker is to be answered. The payload is the id of the worker, and where a newer
 * claim is the reason its number.
 */
export const WORKERS_CHANNEL = 'workers';

/** Seconds of silence after which the runs of a worker are taken for stalled. */
export function workerLeaseSeconds(config: Pick<Config, 'jobLease'>): number {
  return silenceOf(config).ofWorkers;
}

/** 404 for a worker that is unknown, gone, or not the one that asks. */
export function noSuchWorker(id: string): Problem {
  return new Problem('worker.not-found', `There is no worker ${id}`);
}
