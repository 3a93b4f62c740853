import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Metrics } from '#src/runtime/index.js';
import { WorkerClaims } from './worker-claims.js';
import { workerLeaseSeconds } from '../worker.js';
import { WorkersRepository } from '../workers.repository.js';

/** Metrics of the workers of sites: what all instances know of them, and what this one hears. */
@Injectable()
export class WorkerMetrics {
  private readonly reports;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'jobLease'>,
    @Inject(CLOCK) clock: Clock,
    metrics: Metrics,
    workers: WorkersRepository,
    claims: WorkerClaims,
  ) {
    const silentSince = (): Date => new Date(clock.now() - workerLeaseSeconds(config) * 1000);
    metrics.gauge('gridgate_workers', 'Workers of sites', ['site', 'state'], async (gauge) => {
      gauge.reset();
      for (const { site, state, count } of await workers.counts(silentSince()).catch(() => []))
        gauge.set({ site, state }, count);
    });
    metrics.gauge(
      'gridgate_worker_runs',
      'Runs that workers of sites have',
      ['site'],
      async (gauge) => {
        gauge.reset();
        for (const { site, count } of await workers.runs().catch(() => []))
          gauge.set({ site }, count);
      },
    );
    const waiting = 'Claims of workers that wait here for an answer';
    metrics.gauge('gridgate_worker_claims', waiting, [], (gauge) => gauge.set(claims.waiting));
    this.reports = metrics.counter(
      'gridgate_worker_reports_total',
      'Reports of workers of sites to this instance; returned: runs that were certainly not started',
      ['site', 'kind'],
    );
  }

  /** A worker has reported what became of a run. */
  reported(site: string, kind: string): void {
    this.reports.inc({ site, kind });
  }
}
