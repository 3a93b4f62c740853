import { rm } from 'node:fs/promises';

export default async function tearDown() {
  await globalThis.gridTestPostgres?.stop();
  if (globalThis.gridTestHome) await rm(globalThis.gridTestHome, { recursive: true, force: true });
}
