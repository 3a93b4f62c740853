import { stat } from 'node:fs/promises';
import { ConfigurationFault, type Config } from '#src/platform/index.js';
import { BatchAccounts } from './batch-accounts.js';
import { RunDirectory } from './run-directory.js';
import { connectionFault, slurmDirectory } from './site-settings.js';
import { SlurmApi } from './slurm-api.js';
import { SlurmConnection, type SlurmConnectionSettings } from './slurm-connection.js';
import type { OpenSlurmParts, SlurmParts } from './slurm-parts.js';

/**
 * Opens what an executor works with: accounts, shared directory, connection. `settings` are those of the service, `given.config`
 * is what holds for the site. Throws ConfigurationFault for what the settings forbid, Error for what may be mended without the service.
 */
export async function openSlurmParts(
  given: SlurmParts,
  executorId: string,
  settings: Config,
): Promise<OpenSlurmParts> {
  const { config, clock, connection } = given;
  const fault = connection && connectionFault(connection, settings);
  if (fault !== undefined) throw new ConfigurationFault([fault]);
  if (connection !== undefined) await checkDirectory(connection.workDirectory);
  const accounts = await BatchAccounts.open(config, clock);
  const directory = new RunDirectory(slurmDirectory(config), accounts.givesFiles);
  await directory.prepare();
  const slurm = new SlurmConnection({ ...connectionOf(given), clock });
  const api = new SlurmApi(slurm, accounts.only?.name ?? config.slurmUser);
  return { ...given, executorId, api, directory, accounts };
}

/** One that is not mounted is not made: nobody else would see what is in it. */
async function checkDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw new Error(`workDirectory ${path} is not there, or is no directory`);
}

/** How slurmrestd is reached: as the site says, else as the settings say. */
export function connectionOf({
  config,
  connection,
}: Pick<SlurmParts, 'config' | 'connection'>): SlurmConnectionSettings {
  const timeoutMs = config.slurmTimeout * 1000;
  if (connection !== undefined) {
    const { url = '', tokenFile, keyFile } = connection;
    return { url, tokenFile, keyFile, timeoutMs };
  }
  const { slurmUrl: url = '', slurmToken: token, slurmTokenKeyFile: keyFile } = config;
  return { url, token, keyFile, timeoutMs };
}
