import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Database, withAdvisoryLock } from '#src/database/index.js';
import { Scheduler } from '#src/runtime/index.js';
import { MAX_AGGREGATED_ROWS, aggregatePending, isPending } from './totals.repository.js';

const EVERY_MS = 500;
const RETRY_MS = 3_000;

/**
 * Adds pending totals to the directories, on one instance at a time. Answers are exact without it; it keeps the
 * number of pending rows, which every search reads, small.
 */
@Injectable()
export class TotalsAggregator implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.add({
      name: 'catalogue.totals',
      firstMs: 0,
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      run: () => this.aggregate(),
    });
  }

  /** Adds everything that is pending now, unless another instance is doing so. */
  async aggregate(): Promise<void> {
    if (!(await isPending(this.database))) return;
    for (
      let aggregated: number | undefined = MAX_AGGREGATED_ROWS;
      aggregated === MAX_AGGREGATED_ROWS;
    ) {
      aggregated = await withAdvisoryLock(this.database, 'catalogueTotals', aggregatePending);
    }
  }
}
