import { performance } from 'node:perf_hooks';
import {
  type Logger,
  Collections,
  LoopStalls,
  STALL_BUDGET_MS,
  type Metrics,
  type ThreadTime,
} from '#src/runtime/index.js';
import type { RequestsUnderWay } from './requests-under-way.js';

/** What watches the loop, until it is stopped. */
export interface LoopWatch {
  start(): void;
  stop(): void;
}

/**
 * Measures the stalls of the event loop; one above the budget is told in the log with the requests under way and what
 * of it was garbage collection.
 */
export function watchLoop(
  { metrics, logger }: { metrics: Metrics; logger: Logger },
  underWay: RequestsUnderWay,
  now?: ThreadTime,
): LoopWatch {
  const collections = new Collections();
  let lookedAt = performance.now();
  const tell = async (stretchMs: number, requests: string[]): Promise<void> => {
    const stallMs = Math.round(stretchMs);
    const gcMs = Math.round(await collections.since(lookedAt));
    logger.warn({ stallMs, gcMs, requests }, 'the event loop was held up');
  };
  const stalls = new LoopStalls(
    metrics,
    (stretchMs) => {
      if (stretchMs > STALL_BUDGET_MS) void tell(stretchMs, underWay.names());
      lookedAt = performance.now();
      underWay.forget();
    },
    now,
  );
  return {
    start: () => {
      collections.start();
      stalls.start();
    },
    stop: () => {
      stalls.stop();
      collections.stop();
    },
  };
}
