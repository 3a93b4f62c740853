import { rm } from 'node:fs/promises';
import { refuseStalls } from './stalls.mjs';

export default async function tearDown() {
  const { gridTestPostgres: postgres, gridTestHosts: hosts, gridTestHome: home } = globalThis;
  await hosts?.stop();
  await postgres?.stop();
  if (home === undefined) return;
  try {
    refuseStalls(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
