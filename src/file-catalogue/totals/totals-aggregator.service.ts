import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { sleep } from '#src/kernel/index.js';
import { Database, LOGGER, whenAlone, type Logger } from '#src/platform/index.js';
import { MAX_AGGREGATED_ROWS, aggregatePending, isPending } from './totals.repository.js';

const PAUSE_MS = 500;
const PAUSE_AFTER_FAULT_MS = 3_000;

/**
 * Adds pending totals to the directories, on one instance at a time. Answers are exact without it; it keeps the
 * number of pending rows, which every search reads, small.
 */
@Injectable()
export class TotalsAggregator implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stop = new AbortController();
  private loop: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.loop = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort(new Error('stopped'));
    await this.loop;
  }

  /** Adds everything that is pending now, unless another instance is doing so. */
  async aggregate(): Promise<void> {
    if (!(await isPending(this.database))) return;
    for (
      let aggregated: number | undefined = MAX_AGGREGATED_ROWS;
      aggregated === MAX_AGGREGATED_ROWS;
    ) {
      aggregated = await whenAlone(this.database, 'catalogueTotals', aggregatePending);
    }
  }

  private async run(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      let pause = PAUSE_MS;
      try {
        await this.aggregate();
      } catch (error) {
        pause = PAUSE_AFTER_FAULT_MS;
        this.logger.warn(
          { err: error },
          'totals of the catalogue could not be added up; trying again',
        );
      }
      await sleep(pause, { signal, unref: true }).catch(() => undefined);
    }
  }
}
