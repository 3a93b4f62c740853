import { GridError } from 'gridgate/client';

/** Undefined: who is signed in may not have it. */
export async function ifAllowed<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof GridError && error.status === 403) return undefined;
    throw error;
  }
}

/** What came of work on many things. */
export interface Outcome<T> {
  done: T[];
  refused: { item: T; why: string }[];
}

/** Requests at once: a caller has no more than a part of the service. */
const AT_ONCE = 4;

/** Does the work for each, some at a time; what is refused stops nothing else. */
export async function forEach<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  onStep: (finished: number) => void = () => undefined,
): Promise<Outcome<T>> {
  const outcome: Outcome<T> = { done: [], refused: [] };
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      try {
        await work(item);
        outcome.done.push(item);
      } catch (error) {
        outcome.refused.push({ item, why: error instanceof Error ? error.message : 'failed' });
      }
      onStep(outcome.done.length + outcome.refused.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcome;
}

/** Lists of at most so many. */
export function slices<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += size) {
    parts.push(items.slice(start, start + size));
  }
  return parts;
}

/** Calls that come faster than this are one; the last one is never lost. */
export function atMostEvery(seconds: number, signal: AbortSignal, work: () => void): () => void {
  let next = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = (): void => {
    timer = undefined;
    next = Date.now() + seconds * 1000;
    if (!signal.aborted) work();
  };
  return () => {
    timer ??= setTimeout(run, Math.max(0, next - Date.now()));
  };
}
