import { rm } from 'node:fs/promises';
import { judgeStalls } from './stalls.mjs';

export default async function tearDown() {
  const { gridTestPostgres: postgres, gridTestHosts: hosts, gridTestHome: home } = globalThis;
  await hosts?.stop();
  await postgres?.stop();
  if (home === undefined) return;
  try {
    judgeStalls(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
