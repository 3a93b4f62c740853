import { performance, PerformanceObserver } from 'node:perf_hooks';

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
