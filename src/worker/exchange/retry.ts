import { Problem, sleep } from '#src/kernel/index.js';
import { isAway } from '#src/jobs/run/index.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** What something on the way wants may be anything. */
const LONGEST_WANTED_SECONDS = 300;

/**
 * Pauses between the tries of who waits for the service: each up to twice as long as the one before, 30 s at most, and by chance
 * shorter, so that a thousand workers come back one after the other. What the service says it wants comes first.
 */
export class Backoff {
  private tries = 0;

  /** The service has answered. */
  reset(): void {
    this.tries = 0;
  }

  /** Milliseconds until the next try after this error. */
  next(error: unknown): number {
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.tries);
    this.tries += 1;
    const told = error instanceof Problem ? (error.retryAfterSeconds ?? 0) : 0;
    const wanted = Math.min(LONGEST_WANTED_SECONDS, Math.max(0, told));
    return wanted * 1000 + longest * (0.5 + Math.random() / 2);
  }
}

/** Does it again until the service answers. Throws any other error, and the reason of the signal. */
export async function untilAnswered<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const backoff = new Backoff();
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
      await sleep(backoff.next(error), { signal });
    }
  }
}
