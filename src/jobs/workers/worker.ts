import { Problem } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { silenceOf } from '../matching/dispatch.repository.js';
import type { WorkerEntity } from './worker.entity.js';

/**
 * Channel of the change feed that says: the claim of a worker is to be answered. The payload is the id of the worker, and where a newer
 * claim is the reason its number.
 */
export const WORKERS_CHANNEL = 'workers';

/** True of the worker that the service has started on its machine: it runs jobs of all sites with the backend `local-process`. */
export function isOwn({ site }: Pick<WorkerEntity, 'site'>): boolean {
  return site === null;
}

/** The executor under whose name the runs of a worker are held. */
export function executorOf(worker: Pick<WorkerEntity, 'id' | 'site'>): string {
  return isOwn(worker) ? `local:${worker.id}` : `worker:${worker.id}`;
}

/** How its runs are named in the history and the parameters of their jobs. */
export function backendOf(worker: Pick<WorkerEntity, 'site'>): 'local-process' | 'worker' {
  return isOwn(worker) ? 'local-process' : 'worker';
}

/** Seconds of silence after which the runs of a worker are taken for stalled. */
export function workerLeaseSeconds(config: Pick<Config, 'jobLease'>): number {
  return silenceOf(config).ofWorkers;
}

/** The same of the service's own. */
export function ownLeaseSeconds(config: Pick<Config, 'jobLease'>): number {
  return silenceOf(config).ofExecutors;
}

/** 404 for a worker that is unknown, gone, or not the one that asks. */
export function noSuchWorker(id: string): Problem {
  return new Problem('worker.not-found', `There is no worker ${id}`);
}
