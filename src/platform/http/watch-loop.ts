import type { Logger } from '../observe/logging/logger.js';
import { LoopStalls, STALL_BUDGET_MS } from '../observe/metrics/loop-stalls.js';
import type { Metrics } from '../observe/metrics/metrics.js';
import type { ThreadTime } from '../observe/metrics/thread-time.js';
import type { RequestsUnderWay } from './requests-under-way.js';

/** Measures the stalls of the event loop; one above the budget is told in the log with the requests under way. */
export function watchLoop(
  { metrics, logger }: { metrics: Metrics; logger: Logger },
  underWay: RequestsUnderWay,
  now?: ThreadTime,
): LoopStalls {
  return new LoopStalls(
    metrics,
    (stretchMs) => {
      if (stretchMs > STALL_BUDGET_MS) {
        const stall = { stallMs: Math.round(stretchMs), requests: underWay.names() };
        logger.warn(stall, 'the event loop was held up');
      }
      underWay.forget();
    },
    now,
  );
}
