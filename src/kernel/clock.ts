import { setTimeout } from 'node:timers/promises';

/** Time as a dependency, so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number;
}

/** Injection token of the Clock. */
export const CLOCK = Symbol('Clock');

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/**
 * Waits, and stops waiting when the signal aborts (rejects with the signal's reason).
 * The timer never keeps a process alive that has nothing else to do when `unref` is set.
 */
export async function sleep(
  milliseconds: number,
  { signal, unref = false }: { signal?: AbortSignal; unref?: boolean } = {},
): Promise<void> {
  await setTimeout(milliseconds, undefined, { ref: !unref, ...(signal && { signal }) }).catch(
    () => {
      throw signal?.reason;
    },
  );
}
