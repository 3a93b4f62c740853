import { describeSlurm, type SlurmReport } from '../../jobs/index.js';
import { ConfigurationFault, type Config } from '#src/config/index.js';
import type { Site } from '../../registry/index.js';
import { fault, ok, reasonOf, skipped, warning, type Finding } from './finding.js';

const SHOWN = 5;
const CHECK = 'Slurm';
const ACCOUNTS = 'accounts of Slurm jobs';
const SETTINGS_ADVICE =
  'Check GRID_SLURM_URL, and GRID_SLURM_JWT_KEY (of the cluster) or GRID_SLURM_TOKEN (of SlurmUser where there are several accounts)';

/** Names that jobs may have as owner and as group. */
interface JobNames {
  owners: readonly string[];
  groups: readonly string[];
}

/** How findings are called, and what helps. */
interface Words {
  check: string;
  accounts: string;
  advice: string;
}

/** Slurm answers in the name of the accounts under which jobs would run, and each owner or group has one. */
export async function checkSlurm(config: Config, names: JobNames): Promise<Finding[]> {
  const words = { check: CHECK, accounts: ACCOUNTS, advice: SETTINGS_ADVICE };
  try {
    const report = await describeSlurm(config, names);
    if (report === undefined) return [skipped(CHECK, 'GRID_SLURM_URL is not set')];
    return [answerFinding(report, words), ...accountFindings(report, words)];
  } catch (error) {
    return [fault(ACCOUNTS, textOf(error), 'Check GRID_SLURM_ACCOUNTS and GRID_SLURM_USER')];
  }
}

/** The same of each site that has a cluster of its own; one that does not answer delays no other. */
export async function checkSlurmSites(
  config: Config,
  sites: readonly Site[],
  names: JobNames,
): Promise<Finding[]> {
  const findings = sites.map(async ({ name, connection }): Promise<Finding[]> => {
    if (connection === undefined) return [];
    const advice = `Check connection of the site ${name} in the registry, and the files that it names`;
    const words = { check: `${CHECK} of ${name}`, accounts: `accounts of ${name}`, advice };
    try {
      const report = await describeSlurm(config, names, connection);
      if (report === undefined) return [];
      return [answerFinding(report, words), ...accountFindings(report, words)];
    } catch (error) {
      return [fault(words.check, textOf(error), advice)];
    }
  });
  return (await Promise.all(findings)).flat();
}

function textOf(error: unknown): string {
  return error instanceof ConfigurationFault ? error.faults.join('; ') : reasonOf(error);
}

function answerFinding({ accounts, answered, silent }: SlurmReport, words: Words): Finding {
  const { check, advice } = words;
  if (accounts.length === 0) return skipped(check, 'no account is there in whose name to ask');
  if (silent.length === 0) return ok(check, `answers ${answered} of ${accounts.length} accounts`);
  return fault(check, `does not answer ${listOf(silent)}`, advice);
}

function accountFindings({ accounts, refusals }: SlurmReport, words: Words): Finding[] {
  const text = `${accounts.length}: ${listOf(accounts)}`;
  if (refusals.length === 0) return [ok(words.accounts, text)];
  const advice = 'Make the accounts, or leave it so: these jobs fail, and no others';
  return [warning(words.accounts, listOf(refusals), advice)];
}

function listOf(items: readonly string[]): string {
  const left = items.length - SHOWN;
  return `${items.slice(0, SHOWN).join('; ')}${left > 0 ? `; and ${left} more` : ''}`;
}
