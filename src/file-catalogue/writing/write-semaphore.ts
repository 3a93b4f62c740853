import { Problem } from '#src/kernel/index.js';

/**
 * Lets a bounded number of writers work at once; the others wait in the order they came. So thousands of requests
 * at once wait here, where it costs nothing, and not for connections, which readers need too.
 */
export class WriteSemaphore {
  private running = 0;
  private readonly waiting: { resolve: () => void; cancel: NodeJS.Timeout }[] = [];

  constructor(
    private readonly permits: number,
    private readonly longestWaitMs: number,
  ) {}

  /** Runs the work when a permit is free. 503 when none becomes free in time. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  private async acquire(): Promise<void> {
    if (this.running < this.permits) {
      this.running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const cancel = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(entry), 1);
        reject(
          new Problem('service.overloaded', 'Too many writers at once', { retryAfterSeconds: 2 }),
        );
      }, this.longestWaitMs);
      const entry = { resolve, cancel };
      this.waiting.push(entry);
    });
  }

  private release(): void {
    const next = this.waiting.shift();
    if (!next) {
      this.running -= 1;
      return;
    }
    clearTimeout(next.cancel);
    next.resolve();
  }
}
