import { Problem } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';

/** A worker that has been silent for a lease may have missed two answers to claims. */
const LEAST_LEASE_SECONDS = 90;

/** Seconds of silence after which the runs of a worker are taken for stalled. */
export function workerLeaseSeconds({ jobLease }: Pick<Config, 'jobLease'>): number {
  return Math.max(LEAST_LEASE_SECONDS, jobLease);
}

/** 404 for a worker that is unknown, gone, or not the one that asks. */
export function noSuchWorker(id: string): Problem {
  return new Problem('worker.not-found', `There is no worker ${id}`);
}
