import { rm } from 'node:fs/promises';
import { noteFailedSuite } from './failed-suites.mjs';
import { refuseStalls } from './stalls.mjs';

export default async function tearDown() {
  const { gridTestPostgres: postgres, gridTestHome: home } = globalThis;
  await postgres?.stop();
  if (home === undefined) return;
  try {
    refuseStalls(home);
  } catch (failure) {
    for (const path of failure.suites ?? []) noteFailedSuite(path);
    throw failure;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
