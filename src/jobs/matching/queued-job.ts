import type { JobEntity } from '../state/job.entity.js';
import type { Wishes } from './shape.js';

type Place = 'jid' | 'priority' | 'lastUpdate' | 'owner' | 'ownerGroup';

/** A waiting job as far as its place in the queue goes. */
export interface QueuedJob extends Wishes, Pick<JobEntity, Place> {
  /** A hash of its wishes, which PostgreSQL computes. */
  shape: number | bigint;
}

/** The jobs of one owner in one group that have one shape. */
export type LaneKey = Pick<QueuedJob, 'shape' | 'ownerGroup' | 'owner'>;

/** The same text for jobs of the same lane. */
export function laneOf({ shape, ownerGroup, owner }: LaneKey): string {
  return JSON.stringify([String(shape), ownerGroup, owner]);
}

/** Of one owner's jobs the first is that of the highest priority, then the oldest. */
export function byOrder(a: QueuedJob, b: QueuedJob): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  return a.jid < b.jid ? -1 : a.jid > b.jid ? 1 : 0;
}
