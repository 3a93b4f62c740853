/** Time as a dependency, so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/**
 * Waits, and stops waiting when the signal aborts (rejects with the signal's reason).
 * The timer never keeps a process alive that has nothing else to do when `unref` is set.
 */
export function sleep(
  milliseconds: number,
  options: { signal?: AbortSignal; unref?: boolean } = {},
): Promise<void> {
  const { signal, unref = false } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, milliseconds);
    if (unref) timer.unref();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
