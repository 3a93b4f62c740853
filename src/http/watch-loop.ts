import { performance, PerformanceObserver } from 'node:perf_hooks';
import { openSync, readSync } from 'node:fs';
import type { Histogram } from 'prom-client';
import type { Logger, Metrics } from '#src/runtime/index.js';
import type { RequestsUnderWay } from './request-middleware.js';

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

/** No request, connection, job or row may keep the event loop from its next turn for longer. */
const STALL_BUDGET_MS = 100;

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

/** A running count of the processor time of this thread, milliseconds. */
type ThreadTime = () => number;

type CpuUsage = () => { user: number; system: number };

/** Where Linux says in its first number how many nanoseconds the thread that opens it has run. */
const SCHEDULER_FIGURES = '/proc/thread-self/schedstat';
const SPACE = 0x20;

/**
 * The processor time of this thread: from Node where it tells it (23.9 and later), else from Linux's scheduler (one
 * read of an open file, 1.7 µs). Where neither knows, the processor time of the whole process, which is never less.
 */
export function threadTime(): ThreadTime {
  const { threadCpuUsage } = process as { threadCpuUsage?: CpuUsage };
  if (threadCpuUsage) return fromUsage(() => threadCpuUsage.call(process));
  return fromScheduler() ?? fromUsage(() => process.cpuUsage());
}

function fromUsage(usage: CpuUsage): ThreadTime {
  return () => {
    const { user, system } = usage();
    return (user + system) / 1_000;
  };
}

/** Undefined where the file is not there. It stays open as long as the process lives. */
export function fromScheduler(path = SCHEDULER_FIGURES): ThreadTime | undefined {
  const text = Buffer.alloc(64);
  try {
    const file = openSync(path, 'r');
    const read: ThreadTime = () => {
      readSync(file, text, 0, text.length, 0);
      return Number(text.toString('latin1', 0, text.indexOf(SPACE))) / 1e6;
    };
    return Number.isFinite(read()) ? read : undefined;
  } catch {
    return undefined;
  }
}

const KEPT = 64;
/** Node hands an entry from the collector to its observers in so many turns of the loop. */
const TURNS = 3;

/** The latest garbage collections of this thread. */
export class Collections {
  private readonly latest: { at: number; ms: number }[] = [];
  private readonly observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      this.latest.push({ at: startTime, ms: duration });
    }
    this.latest.splice(0, this.latest.length - KEPT);
  });

  start(): void {
    this.observer.observe({ entryTypes: ['gc'] });
  }

  stop(): void {
    this.observer.disconnect();
  }

  /**
   * Milliseconds of the collections that began between the moment (of `performance.now()`) and now. It tells a few
   * turns of the loop later: only then they are known.
   */
  async since(moment: number): Promise<number> {
    const now = performance.now();
    for (let turn = 0; turn < TURNS; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const within = this.latest.filter(({ at }) => at >= moment && at <= now);
    return within.reduce((sum, { ms }) => sum + ms, 0);
  }
}
