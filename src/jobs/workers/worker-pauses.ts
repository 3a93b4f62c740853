import type { WorkerEntity } from './worker.entity.js';

/** So many in a row. */
const MOST_BAD = 5;
/** The program of one owner may be to blame for any number. */
const LEAST_OWNERS = 2;
/** A program that fails later has run. */
export const SOON_SECONDS = 2;
const FIRST_PAUSE_SECONDS = 10;
const LONGEST_PAUSE_SECONDS = 300;

/** What is known of the last runs of a worker. */
export type WorkerRecord = Pick<WorkerEntity, 'badRuns' | 'pauses' | 'pausedUntil'>;

/**
 * The record after one more run that went wrong at once. `owner` is whose program it was; empty where no program can be to blame. After
 * five of several owners the worker gets one run at a time, after each further one none for a while, longer each time. What fails during a
 * pause is of the round that made it.
 */
export function afterBadRun(before: WorkerRecord, owner: string, now: Date): WorkerRecord {
  const badRuns = [...before.badRuns, owner].slice(-MOST_BAD);
  const owners = new Set(badRuns.map((name, at) => name || at)).size;
  const isPaused = before.pausedUntil !== null && before.pausedUntil > now;
  if (badRuns.length < MOST_BAD || owners < LEAST_OWNERS || isPaused) return { ...before, badRuns };
  const seconds = before.pauses === 0 ? 0 : FIRST_PAUSE_SECONDS * 2 ** (before.pauses - 1);
  const pauseMs = Math.min(seconds, LONGEST_PAUSE_SECONDS) * 1000;
  return { badRuns, pauses: before.pauses + 1, pausedUntil: new Date(now.getTime() + pauseMs) };
}

/** How many of the runs that it would take the worker gets. */
export function mostAfter(
  { most, holding }: { most: number; holding: readonly unknown[] },
  { pauses, pausedUntil }: Pick<WorkerRecord, 'pauses' | 'pausedUntil'>,
  now: Date,
): number {
  if (pauses === 0) return most;
  if (holding.length > 0 || (pausedUntil !== null && pausedUntil > now)) return 0;
  return Math.min(1, most);
}

/** The same for people; undefined while it gets as many as it would take. */
export function pauseOf({ pauses, pausedUntil }: WorkerRecord, now: Date): string | undefined {
  if (pauses === 0) return undefined;
  const text = 'Its last runs went wrong at once: it gets one at a time';
  const isPaused = pausedUntil !== null && pausedUntil > now;
  return isPaused ? `${text}, and none before ${pausedUntil.toISOString()}` : text;
}
