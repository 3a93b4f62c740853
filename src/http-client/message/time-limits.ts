import { Timeout } from './errors.js';
import type { TimeoutSetting } from './types.js';

/** The setting itself; throws RangeError for seconds that are no positive number. */
export function checkedTimeout(timeout: TimeoutSetting | null | undefined): TimeoutSetting | null {
  if (timeout === null || timeout === undefined) return null;
  for (const seconds of typeof timeout === 'number' ? [timeout] : timeout) {
    if (seconds !== null && !(seconds > 0)) {
      throw new RangeError('a timeout must be a positive number of seconds, or null for none');
    }
  }
  return timeout;
}

/** Milliseconds for connecting and for silence while reading; undefined waits for ever. */
export function timeoutMilliseconds(
  timeout: TimeoutSetting | null,
): [connect: number | undefined, read: number | undefined] {
  if (timeout === null) return [undefined, undefined];
  const [connect, read] = typeof timeout === 'number' ? [timeout, timeout] : timeout;
  return [toMilliseconds(connect), toMilliseconds(read)];
}

/** What is left of a deadline that began at `startedAt` (performance.now()); throws Timeout when nothing is. */
export function remainingSeconds(
  deadline: number | null | undefined,
  startedAt: number,
): number | null {
  if (deadline === null || deadline === undefined) return null;
  const left = deadline - (performance.now() - startedAt) / 1000;
  if (!(left > 0)) throw new Timeout(`the request was not over within ${deadline} seconds`);
  return left;
}

/** Timers hold at most 2^31 - 1 ms, a longer one would fire at once. */
export function toMilliseconds(seconds: number | null): number | undefined {
  if (seconds === null || seconds === Infinity) return undefined;
  return Math.min(Math.ceil(seconds * 1000), 2 ** 31 - 1);
}
