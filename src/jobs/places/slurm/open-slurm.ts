import { join } from 'node:path';
import { BatchAccounts } from './batch-accounts.js';
import { RunDirectory } from './run-directory.js';
import { SlurmApi } from './slurm-api.js';
import { SlurmConnection } from './slurm-connection.js';
import type { OpenSlurmParts, SlurmParts } from './slurm-parts.js';

/**
 * Opens what the executor works with: accounts, shared directory, connection. Throws ConfigurationFault for accounts
 * that cannot be, Error for what may be mended without the service.
 */
export async function openSlurmParts(
  given: SlurmParts,
  executorId: string,
  url: string,
): Promise<OpenSlurmParts> {
  const { config, clock } = given;
  const accounts = await BatchAccounts.open(config, clock);
  const root = config.slurmWorkDir ?? join(config.homePath, 'slurm');
  const directory = new RunDirectory(root, accounts.givesFiles);
  await directory.prepare();
  const connection = new SlurmConnection({
    url,
    token: config.slurmToken,
    keyFile: config.slurmTokenKeyFile,
    timeoutMs: config.slurmTimeout * 1000,
    clock,
  });
  const api = new SlurmApi(connection, accounts.only?.name ?? config.slurmUser);
  return { ...given, executorId, api, directory, accounts };
}
