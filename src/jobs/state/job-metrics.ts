import { Injectable } from '@nestjs/common';
import { Metrics, Tracing } from '#src/runtime/index.js';
import { JobsRepository } from './jobs.repository.js';
import { JOB_STATE_NAMES } from './job-state.js';

/** Metrics of jobs: how many in which state, how long the oldest waits, how long it takes to dispatch. */
@Injectable()
export class JobMetrics {
  private readonly latency;
  private readonly submitted;
  private readonly isolationLevel;
  private readonly localPaused;

  constructor(
    metrics: Metrics,
    repository: JobsRepository,
    private readonly tracing: Tracing,
  ) {
    this.latency = metrics.histogram(
      'gridgate_job_dispatch_seconds',
      'Seconds from Waiting to Matched',
    );
    this.submitted = metrics.counter('gridgate_jobs_submitted_total', 'Jobs made by submits here');
    this.isolationLevel = metrics.gauge(
      'gridgate_local_isolation',
      'Isolation of local jobs on this instance: 1 for the level in force (off: they are not run)',
      ['level'],
    );
    this.localPaused = metrics.gauge(
      'gridgate_local_jobs_paused',
      'Whether no local jobs are started on this instance because of its machine',
    );
    metrics.gauge('gridgate_jobs', 'Jobs by state', ['status'], async (gauge) => {
      const states = new Map(
        (await repository.states().catch(() => [])).map(({ status, total }) => [status, total]),
      );
      for (const status of JOB_STATE_NAMES) gauge.set({ status }, Number(states.get(status) ?? 0));
    });
    metrics.gauge(
      'gridgate_job_queue_age_seconds',
      'Seconds that the oldest waiting job has waited',
      [],
      async (gauge) => gauge.set(await repository.queueAgeSeconds().catch(() => 0)),
    );
  }

  /** How local jobs are kept apart on this instance: 1 for the level in force. */
  isolation(level: string): void {
    this.isolationLevel.reset();
    this.isolationLevel.set({ level }, 1);
  }

  /** Whether the machine of this instance keeps local jobs from starting. */
  localPause(isPaused: boolean): void {
    this.localPaused.set(isPaused ? 1 : 0);
  }

  /** Jobs were given to an executor, which a look has taken from `startedMs` on. */
  dispatched(
    { id, backend }: { id: string; backend: string },
    orders: readonly { waitedSeconds?: number }[],
    startedMs: number,
  ): void {
    for (const { waitedSeconds } of orders) {
      if (waitedSeconds !== undefined) this.latency.observe(waitedSeconds);
    }
    const traced = { 'gridgate.executor': id, 'gridgate.backend': backend };
    this.tracing.record('dispatch jobs', startedMs, { ...traced, 'gridgate.jobs': orders.length });
  }

  /** Jobs were made. */
  added(count: number): void {
    this.submitted.inc(count);
  }
}
