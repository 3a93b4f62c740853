import { readFile } from 'node:fs/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { EncodingError, utf8Text } from '../kernel/index.js';
import { DemoCatalogue } from '../file-catalogue/index.js';
import { openSettings, type Config } from '#src/config/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import {
  groupsBesideVos,
  hasSeveralVos,
  RegistryLoader,
  RegistryService,
  type Group,
} from '../registry/index.js';
import { refuseTrustedNetwork } from '../worker/index.js';
import type { Runtime } from './runtime.js';

const NOT_LOADED =
  'the registry is not what its file says, as the file is loaded into an empty one only: load it with `gridgate registry load`, or set GRID_REGISTRY_SYNC=true for a file that rules';

const BESIDE_VOS =
  'these groups have NormalUser and no virtual organisation, beside several: what their members submit belongs to none, and with another property they see that of all; give them a `vo`';
const OPEN_BORDERS =
  'these settings are `true`: users see what belongs to other virtual organisations; leave them out, or set them to `vo`';

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
  const current = await app.get(RegistryService).current();
  refuseTrustedNetwork(config, current.sites());
  warnOfBorders(config, current.groups(), logger);
  if (config.loadDemo) await app.get(DemoCatalogue).load();
}

/** With several virtual organisations: what lets their users see what belongs to others. */
function warnOfBorders(config: Config, groups: readonly Group[], logger: Logger): void {
  const outside = groupsBesideVos(groups);
  if (outside.length > 0) logger.warn({ groups: outside }, BESIDE_VOS);
  const settings = openSettings(config);
  if (config.production && settings.length > 0 && hasSeveralVos(groups)) {
    logger.warn({ settings }, OPEN_BORDERS);
  }
}

async function readRegistryFile(path: string): Promise<string> {
  try {
    return utf8Text(await readFile(path));
  } catch (cause) {
    if (cause instanceof EncodingError) {
      throw new Error(`GRID_REGISTRY=${path}: ${cause.message}`, { cause });
    }
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
