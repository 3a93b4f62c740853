import { systemClock, type Clock } from '#src/kernel/index.js';
import type { Audit } from '#src/audit/index.js';
import {
  describeDifference,
  RegistryFileError,
  RegistryLoader,
  type RegistryService,
} from '#src/registry/index.js';
import { RegistryRepository } from '../../src/registry/store/registry.repository.js';
import { onDatabaseOf } from './database-of.js';
import type { Grid } from './testbed.js';

/** What `gridgate registry load` prints of a file with this text; without its process, which takes as long as all the rest. */
export async function load(grid: Grid, text: string, clock?: Clock): Promise<string> {
  return withLoader(
    grid,
    async (loader) => {
      const lines = describeDifference(await loader.load(text));
      return lines.length > 0 ? lines.join('\n') : 'no difference';
    },
    clock,
  ).catch((error: unknown) => {
    if (error instanceof RegistryFileError) return error.message;
    throw error;
  });
}

/** What `gridgate registry dump` prints. */
export function dump(grid: Grid): Promise<string> {
  return withLoader(grid, (loader) => loader.dump());
}

async function withLoader(
  grid: Grid,
  work: (loader: RegistryLoader) => Promise<string>,
  clock: Clock = systemClock,
): Promise<string> {
  let said = '';
  await onDatabaseOf(grid, async (database) => {
    const repository = new RegistryRepository(database, { issuerVo: undefined });
    const service = { forget: () => undefined } as unknown as RegistryService;
    const audit = { done: () => undefined } as unknown as Audit;
    said = await work(new RegistryLoader(clock, database, repository, service, audit));
  });
  return said;
}
