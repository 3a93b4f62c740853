import { readFile } from 'node:fs/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { DemoCatalogue } from '../file-catalogue/index.js';
import { refuseTrustedNetwork } from '../jobs/index.js';
import { LOGGER, type Config, type Logger } from '../platform/index.js';
import { RegistryLoader, RegistryService } from '../registry/index.js';
import type { Runtime } from './runtime.js';

const NOT_LOADED =
  'the registry is not what its file says, as the file is loaded into an empty one only: load it with `gridgate registry load`, or set GRID_REGISTRY_SYNC=true for a file that rules';

/**
 * Loads what the configuration asks for: the registry file or the demo registry, and the demo catalogue. Throws Error for
 * a registry with which jobs could speak as a trusted proxy.
 */
export async function prepareData(app: INestApplicationContext, config: Config): Promise<void> {
  const logger = app.get<Logger>(LOGGER);
  const registry = app.get(RegistryLoader);
  if (config.registrySync !== undefined) await registry.letFileRule(config.registrySync);
  if (config.registryFile !== undefined) {
    const file = config.registryFile;
    const { changes, differs } = await registry.loadAtStart(() => readRegistryFile(file));
    if (differs.length === 0) logger.info({ file, changes }, 'loaded the registry');
    else logger.warn({ file, differs }, NOT_LOADED);
  } else if (config.loadDemo) {
    await registry.loadDemo();
  }
  refuseTrustedNetwork(config, (await app.get(RegistryService).current()).sites());
  if (config.loadDemo) await app.get(DemoCatalogue).load();
}

async function readRegistryFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new Error(`GRID_REGISTRY=${path} cannot be read (${reason})`, { cause });
  }
}

/** The readiness checks of the platform: the database answers, and its migrations are done. */
export function checkReadiness(runtime: Runtime): void {
  const { database, readiness } = runtime;
  readiness.add('database', async () => {
    await database.query({ name: 'platform-ready', text: 'select 1' });
    return undefined;
  });
  readiness.add('migrations', () => Promise.resolve(runtime.migrated ? undefined : 'pending'));
}
