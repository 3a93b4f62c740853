import { rm } from 'node:fs/promises';
import { refuseStalls } from './stalls.mjs';

/** Drills take every processor and all of its caches by purpose, and run in pairs: the same work costs twice as much there. */
const LONGEST_STALL_MS = { drills: 250 };

export default async function tearDown(_globalConfig, { displayName } = {}) {
  const { gridTestPostgres: postgres, gridTestHome: home } = globalThis;
  await postgres?.stop();
  if (home === undefined) return;
  try {
    refuseStalls(home, undefined, LONGEST_STALL_MS[displayName?.name]);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
