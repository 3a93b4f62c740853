import { stat } from 'node:fs/promises';
import type { Clock } from '#src/kernel/index.js';
import { ConfigurationFault, type Config } from '#src/config/index.js';
import { BatchAccounts } from './batch-accounts.js';
import { RunDirectory } from './run-directory.js';
import { connectionFault, slurmDirectory } from './site-settings.js';
import type { SlurmApi } from './slurm-api.js';
import { SlurmConnection, type SlurmConnectionSettings } from './slurm-connection.js';
import type { OpenSlurmParts, SlurmParts } from './slurm-parts.js';
import { SlurmRestApi } from './slurm-rest.js';
import { SlurmSshApi } from './slurm-ssh.js';
import { SshConnection } from './ssh-connection.js';

const SSH_PORT = 22;

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
  const root = slurmDirectory(config);
  const nodes = connection?.remoteDirectory ?? root;
  const directory = new RunDirectory(root, accounts.givesFiles, nodes);
  await directory.prepare();
  const api = apiFor(given, accounts.only?.name ?? config.slurmUser);
  return { ...given, executorId, api, directory, accounts };
}

/** One that is not mounted is not made: nobody else would see what is in it. */
async function checkDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw new Error(`workDirectory ${path} is not there, or is no directory`);
}

/** The way to the cluster, in the name of an account. */
export function apiFor(
  given: Pick<SlurmParts, 'config' | 'connection'> & { clock?: Clock },
  user: string,
): SlurmApi {
  const { config, connection, clock } = given;
  const clocked = clock === undefined ? {} : { clock };
  if (connection?.ssh === undefined) {
    return new SlurmRestApi(new SlurmConnection({ ...connectionOf(given), ...clocked }), user);
  }
  const { ssh: host, port = SSH_PORT, programs, configFile } = connection;
  const { identityFile = '', knownHostsFile = '' } = connection;
  const timeoutMs = config.slurmTimeout * 1000;
  const where = { host, port, user, programs, configFile };
  return new SlurmSshApi(
    new SshConnection({ ...where, identityFile, knownHostsFile, timeoutMs, ...clocked }),
  );
}

/** How slurmrestd is reached: as the site says, else as the settings say. */
function connectionOf({
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
