import type { Jid } from '../../state/job.js';
import type { BatchWait } from '../../state/batch-wait.js';
import type { RunOrder } from '../../run/executor.js';
import type { RunPlan } from '../../run/run-plan.js';
import type { BatchAccount } from './batch-accounts.js';
import type { StoredBatch } from './run-directory.js';

/** Name of a run in the shared directory. */
export function runKey(order: { jid: Jid; attempt: number }): string {
  return `${order.jid}-${order.attempt}`;
}

/** One run as this instance knows it; everything that must survive is in the shared directory. */
export class SlurmRun {
  readonly key: string;
  readonly madeMs: number;
  batch: StoredBatch | undefined;
  /** Under which it runs; undefined until that is known. */
  account: BatchAccount | undefined;
  /** The wrapper has begun and the database knows. */
  hasBegun = false;
  /** Its end is being looked at. */
  isFinishing = false;
  /** Nobody wants it any more. */
  isStopped = false;
  /** Not to be looked at before that time. */
  retryMs = 0;
  /** When something of it was last seen, by this process' clock. */
  seenMs: number;
  /** Since when the controller says that it is over although it has left no record. */
  goneMs: number | undefined;
  /** What was last written of its waiting in Slurm's queue. */
  waitNoted: BatchWait | undefined;
  private heartbeat: number | undefined;

  constructor(
    readonly order: RunOrder,
    readonly plan: RunPlan,
    nowMs: number,
  ) {
    this.key = runKey(order);
    this.seenMs = nowMs;
    this.madeMs = nowMs;
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
