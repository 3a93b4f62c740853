import type { Histogram } from 'prom-client';
import type { Metrics } from './metrics.js';
import { threadTime, type ThreadTime } from './thread-time.js';

/** No request, connection, job or row may keep the event loop from its next turn for longer (contract 12). */
export const STALL_BUDGET_MS = 100;

const LOOK_MS = 10;
const LOOKS_OF_A_SECOND = 100;
const BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const HELP =
  'Longest stretch of each second without a turn of the event loop, in processor time of its thread';

/**
 * How long the event loop is kept from its next turn, in processor time of its thread: a machine that is busy with
 * other things is nobody's fault here. A timer looks every 10 ms, or at the first turn after that; what the thread has
 * worked in between is at most 10 ms more than its longest turn. The metric gets the longest of each hundred stretches:
 * one in a second, fewer under load, and what there is at a scrape.
 * Cost measured: 1 % of one processor while idle on a busy machine, none under load (40 against 41 µs of processor time
 * for a request).
 */
export class LoopStalls {
  private readonly seconds: Histogram;
  private timer: NodeJS.Timeout | undefined;
  private last = 0;
  private longestMs = 0;
  private looks = 0;

  /** `onStretch` is told the length of each stretch, milliseconds. */
  constructor(
    metrics: Metrics,
    private readonly onStretch: (milliseconds: number) => void,
    private readonly now: ThreadTime = threadTime(),
  ) {
    this.seconds = metrics.histogram('gridgate_event_loop_stall_seconds', HELP, [], {
      buckets: BUCKETS,
      collect: () => this.record(),
    });
  }

  /** Looks from now on; what has been before does not count. */
  start(): void {
    this.last = this.now();
    this.timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const now = this.now();
    const stretch = now - this.last;
    this.last = now;
    if (stretch > this.longestMs) this.longestMs = stretch;
    this.looks += 1;
    if (this.looks >= LOOKS_OF_A_SECOND) this.record();
    this.onStretch(stretch);
  }

  private record(): void {
    if (this.looks === 0) return;
    this.seconds.observe(this.longestMs / 1_000);
    this.longestMs = 0;
    this.looks = 0;
  }
}
