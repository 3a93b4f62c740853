import type { LimitFunction } from 'p-limit';

/**
 * Works at all items, as far as `limit` lets it. The first fault ends the others by their signal, and is thrown when nothing is under way
 * any more; the reason of the own signal, too.
 */
export async function untilFault<T>(
  items: Iterable<T>,
  { limit, signal }: { limit: LimitFunction; signal: AbortSignal },
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const end = new AbortController();
  const either = AbortSignal.any([signal, end.signal]);
  await limit.map(items, async (item) => {
    try {
      either.throwIfAborted();
      await work(item, either);
    } catch (error) {
      end.abort(error);
    }
  });
  end.signal.throwIfAborted();
}

/** The items in their order, so many together. */
export function* partsOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
