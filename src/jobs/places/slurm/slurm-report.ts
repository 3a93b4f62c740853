import { systemClock } from '#src/kernel/index.js';
import { ConfigurationFault, type Config } from '#src/config/index.js';
import type { SiteConnection } from '#src/registry/index.js';
import { RunFault } from '../../run/run-plan.js';
import { BatchAccounts } from './batch-accounts.js';
import { apiFor } from './open-slurm.js';
import { configOf, connectionFault } from './site-settings.js';
import type { SlurmApi } from './slurm-api.js';
import { SlurmError } from './slurm-error.js';
import { forEachOf } from './slurm-parts.js';

/** Of a large registry so many names are looked up, and so many accounts speak to Slurm. */
const LOOKED_UP = 200;
const SPOKEN_FOR = 20;
const AT_ONCE = 8;

/** What a start with these settings would find of Slurm, for an administrator. */
export interface SlurmReport {
  /** Accounts of jobs, as names; those of the owners or groups that were looked up. */
  accounts: string[];
  /** Why the jobs of some owners or groups would fail, a sentence each. */
  refusals: string[];
  /** Accounts to which Slurm answered. */
  answered: number;
  /** Why Slurm did not answer others: account and its words. */
  silent: string[];
}

/**
 * Looks up the accounts of jobs and lets them speak to Slurm; submits nothing and changes nothing. `names` are those that jobs may
 * have as owner and as group. Of the cluster of a site, or without `connection` that of the settings: undefined without GRID_SLURM_URL. Throws as a start does for accounts that cannot be.
 */
export async function describeSlurm(
  settings: Config,
  names: { owners: readonly string[]; groups: readonly string[] },
  connection?: SiteConnection,
): Promise<SlurmReport | undefined> {
  if (settings.slurmUrl === undefined && connection === undefined) return undefined;
  const fault = connection && connectionFault(connection, settings);
  if (fault !== undefined) throw new ConfigurationFault([fault]);
  const config = connection === undefined ? settings : configOf(connection, settings);
  const accounts = await BatchAccounts.open(config, systemClock);
  const some = config.slurmAccounts === 'group' ? names.groups : names.owners;
  const found = await accountsOf(accounts, some.slice(0, LOOKED_UP));
  const first = accounts.only?.name ?? config.slurmUser;
  const api = apiFor({ config, connection }, first);
  const silent: string[] = [];
  try {
    const speakers = found.accounts.slice(0, SPOKEN_FOR);
    await forEachOf(speakers, AT_ONCE, async (name) => {
      const why = await refusalOf(api.as(name));
      if (why !== undefined) silent.push(`${name}: ${why}`);
    });
    return { ...found, silent: silent.sort(), answered: speakers.length - silent.length };
  } finally {
    await api.close();
  }
}

async function accountsOf(
  accounts: BatchAccounts,
  names: readonly string[],
): Promise<{ accounts: string[]; refusals: string[] }> {
  if (accounts.only !== undefined) return { accounts: [accounts.only.name], refusals: [] };
  const found: string[] = [];
  const refusals: string[] = [];
  await forEachOf(names, AT_ONCE, async (name) => {
    try {
      found.push((await accounts.of({ owner: name, ownerGroup: name })).name);
    } catch (error) {
      if (!(error instanceof RunFault)) throw error;
      refusals.push(error.app);
    }
  });
  return { accounts: found.sort(), refusals: refusals.sort() };
}

async function refusalOf(api: SlurmApi): Promise<string | undefined> {
  try {
    await api.ping();
    return undefined;
  } catch (error) {
    // A key that cannot be read has no words of Slurm.
    if (error instanceof SlurmError) return error.message;
    return error instanceof Error ? error.message : String(error);
  }
}
