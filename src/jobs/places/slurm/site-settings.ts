import { join } from 'node:path';
import type { Config } from '#src/config/index.js';
import { isSameOrWithin, type SiteConnection } from '#src/registry/index.js';

/** The shared directory of the sites without a connection of their own. */
export function slurmDirectory({ slurmWorkDir, homePath }: Config): string {
  return slurmWorkDir ?? join(homePath, 'slurm');
}

/** The settings with which a site of its own cluster works. */
export function configOf(connection: SiteConnection, config: Config): Config {
  const { user, workDirectory, timeout } = connection;
  return {
    ...config,
    slurmUser: user ?? config.slurmUser,
    slurmAccounts: user === undefined ? config.slurmAccounts : undefined,
    slurmPartition: undefined,
    slurmWorkDir: workDirectory,
    slurmTimeout: timeout ?? config.slurmTimeout,
  };
}

/** Why a site cannot work with the settings of the service, which the registry does not know; undefined when it can. */
export function connectionFault(connection: SiteConnection, config: Config): string | undefined {
  const { workDirectory, user, tokenFile, keyFile } = connection;
  if (config.slurmUrl !== undefined && isSameOrWithin(slurmDirectory(config), workDirectory)) {
    return 'workDirectory is also that of the sites without a connection';
  }
  const isNameless = tokenFile === undefined && keyFile === undefined;
  if (user === undefined && config.slurmAccounts !== undefined && isNameless) {
    return 'connection needs user, keyFile or tokenFile: without a token slurmrestd runs all jobs as its own account';
  }
  return undefined;
}
