const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses after the first, second, … failed attempt; the last one is that of all further ones. */
const PAUSES = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
];
/** Longest pause that a receiver can ask for. */
const LONGEST_WISH = HOUR;
/** Share by which pauses vary both ways, so that what failed together does not come back together. */
const JITTER = 0.1;

/** So long a delivery is tried; then its webhook is disabled. */
export const TRIED_FOR_MS = 3 * 24 * HOUR;

/** Milliseconds until the next attempt, after `attempts` failed ones; `wish` is what the receiver asked for. */
export function pauseAfter(attempts: number, wishSeconds = 0, random = Math.random()): number {
  const pause = PAUSES[Math.min(attempts, PAUSES.length) - 1] ?? 5 * SECOND;
  const varied = pause * (1 - JITTER + 2 * JITTER * random);
  return Math.max(varied, Math.min(wishSeconds * SECOND, LONGEST_WISH));
}
