import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed, Database, withAdvisoryLock } from '#src/database/index.js';
import { Scheduler, type TaskOutcome } from '#src/runtime/index.js';
import { mergeCounters } from '../list/job-counters.repository.js';
import { JobsRepository, type Move } from '../state/jobs.repository.js';
import { WORK_CHANNEL } from '../state/admission.js';
import { MINOR } from '../state/job-state.js';
import {
  DispatchRepository,
  silenceOf,
  type ExpiredRun,
  type Silence,
} from '../matching/dispatch.repository.js';
import { ObservationWindow } from './observation-window.js';

const MERGE_MS = 5_000;
/** After a round that failed. */
const RETRY_MS = 1_000;
/** After so many leases of silence a stalled job is given up (the reference: 2 and 6 hours). */
const GIVE_UP_LEASES = 3;
/** Looks that are further apart than this, and than half a lease, tell nothing of the time between them. */
const SHORTEST_GAP_MS = 3_000;

/**
 * Looks after what nobody else does: jobs of instances that went silent, and counters. Every instance runs it; an
 * advisory lock lets one merge the counters.
 */
@Injectable()
export class Reaper implements OnApplicationBootstrap {
  private readonly watch: ObservationWindow;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly scheduler: Scheduler,
    private readonly database: Database,
    private readonly jobs: JobsRepository,
    private readonly dispatch: DispatchRepository,
  ) {
    this.watch = new ObservationWindow(Math.max(SHORTEST_GAP_MS, (config.jobLease * 1000) / 2));
  }

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    const leaseMs = this.config.jobLease * 1000;
    const tasks = [
      { name: 'expired leases', everyMs: Math.max(1_000, leaseMs / 6), run: () => this.reap() },
      { name: 'counters', everyMs: MERGE_MS, run: () => this.mergeCounters() },
    ];
    for (const { name, ...task } of tasks) {
      this.scheduler.add({ name: `jobs.${name}`, firstMs: 0, retryMs: RETRY_MS, ...task });
    }
  }

  /** Stalls, gives back and in the end fails the jobs of silent executors. */
  async reap(): Promise<TaskOutcome> {
    const silence = silenceOf(this.config);
    const giveUp = {
      ofExecutors: silence.ofExecutors * GIVE_UP_LEASES,
      ofWorkers: this.config.workerGiveUp,
    };
    const silent = await this.dispatch.heldByExpired(silence, ['Matched', 'Running', 'Completing']);
    const dead = await this.dispatch.heldByExpired(giveUp, ['Stalled']);
    const watched = this.watch.look(this.clock.now()) / 1000;
    // Silence says nothing of a time in which nobody listened; that a worker is gone the database knows.
    const isKnown = (
      { isOfWorker, isGone }: ExpiredRun,
      { ofWorkers, ofExecutors }: Silence,
    ): boolean => isGone || watched >= (isOfWorker ? ofWorkers : ofExecutors);
    const expired = [
      ...silent.filter((job) => isKnown(job, silence)),
      ...dead.filter((job) => isKnown(job, giveUp)),
    ];
    const moves = expired.flatMap((job) => {
      const held = { executor: job.executor, attempt: job.attempt };
      const move = moveOfExpired(job);
      return move ? [{ ...move, jid: job.jid, held, source: 'Reaper' }] : [];
    });
    const moved = await this.jobs.move(moves, new Date(this.clock.now()));
    await this.dispatch.releaseExpired({
      ofExecutors: watched >= giveUp.ofExecutors ? giveUp.ofExecutors : null,
      ofWorkers: watched >= giveUp.ofWorkers ? giveUp.ofWorkers : null,
    });
    if (moved.length > 0) await this.database.execute(ChangeFeed.notification(WORK_CHANNEL));
    return undefined;
  }

  private async mergeCounters(): Promise<TaskOutcome> {
    const merged = await withAdvisoryLock(this.database, 'reaper', mergeCounters);
    return merged ? 'more' : undefined;
  }
}

/** A Matched job has certainly not been started: the move to Running needs the claim that this takes away. */
function moveOfExpired({
  status,
  isGone,
}: ExpiredRun): Pick<Move, 'steps' | 'from' | 'set'> | undefined {
  if (status === 'Matched') {
    return {
      steps: [
        { to: 'Rescheduled', minor: MINOR.rescheduled },
        { to: 'Waiting', minor: MINOR.waiting },
      ],
      from: ['Matched'],
      set: { executor: null },
    };
  }
  if (status === 'Running' || status === 'Completing') {
    return { steps: [{ to: 'Stalled', minor: MINOR.stalled }], from: [status] };
  }
  if (status === 'Stalled') {
    const app = isGone ? 'Its worker was removed' : 'Nothing was heard of it any more';
    return {
      steps: [{ to: 'Failed', minor: MINOR.pilotGone, app }],
      from: ['Stalled'],
      set: { executor: null },
    };
  }
  return undefined;
}
