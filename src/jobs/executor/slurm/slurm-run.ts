import type { Jid } from '../../job.js';
import type { RunOrder } from '../executor.js';
import type { RunPlan } from '../local/run-plan.js';
import type { BatchShape } from './batch-shape.js';

/** An array of runs as it is, or is about to be, known to Slurm. */
export interface SlurmBatch {
  /** Name of its list in the shared directory. */
  id: string;
  /** By this it is found again in the controller's table. */
  comment: string;
  shape: BatchShape;
  /** Keys of its runs; the place in the list is the index of the task. */
  keys: readonly string[];
  /** Slurm's id; undefined while nobody knows whether the submit has arrived. */
  arrayId?: number | undefined;
}

/** Name of a run in the shared directory. */
export function runKey(order: { jid: Jid; attempt: number }): string {
  return `${order.jid}-${order.attempt}`;
}

/** One run as this instance knows it; everything that must survive is in the shared directory. */
export class SlurmRun {
  readonly key: string;
  batch: SlurmBatch | undefined;
  /** The wrapper has begun and the database knows. */
  hasBegun = false;
  /** Its end is being looked at. */
  isFinishing = false;
  /** Nobody wants it any more. */
  isStopped = false;
  /** When something of it was last seen, by this process' clock. */
  seenMs: number;
  /** Since when the controller says that it is over although it has left no record. */
  goneMs: number | undefined;
  private heartbeat: number | undefined;

  constructor(
    readonly order: RunOrder,
    readonly plan: RunPlan,
    nowMs: number,
  ) {
    this.key = runKey(order);
    this.seenMs = nowMs;
  }

  /** Index of its task; undefined while it is in no batch. */
  get index(): number | undefined {
    const index = this.batch?.keys.indexOf(this.key) ?? -1;
    return index < 0 ? undefined : index;
  }

  /** What people may look for in Slurm. */
  get reference(): string | undefined {
    const { batch } = this;
    if (batch?.arrayId === undefined) return undefined;
    return batch.keys.length > 1 ? `${batch.arrayId}_${this.index}` : `${batch.arrayId}`;
  }

  /** Notes the time stamp of its sign of life; a new one means that it lives. */
  noteHeartbeat(stamp: number | undefined, nowMs: number): void {
    if (stamp === undefined || stamp === this.heartbeat) return;
    this.heartbeat = stamp;
    this.seenMs = nowMs;
  }
}
