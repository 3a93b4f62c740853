import { describeSlurm, type SlurmReport } from '../../jobs/index.js';
import { ConfigurationFault, type Config } from '../../platform/index.js';
import { fault, ok, reasonOf, skipped, warning, type Finding } from './finding.js';

const SHOWN = 5;
const CHECK = 'Slurm';
const ACCOUNTS = 'accounts of Slurm jobs';

/** Slurm answers in the name of the accounts under which jobs would run, and each owner or group has one. */
export async function checkSlurm(
  config: Config,
  names: { owners: readonly string[]; groups: readonly string[] },
): Promise<Finding[]> {
  try {
    const report = await describeSlurm(config, names);
    if (report === undefined) return [skipped(CHECK, 'GRID_SLURM_URL is not set')];
    return [answerFinding(report), ...accountFindings(report)];
  } catch (error) {
    const text = error instanceof ConfigurationFault ? error.faults.join('; ') : reasonOf(error);
    return [fault(ACCOUNTS, text, 'Check GRID_SLURM_ACCOUNTS and GRID_SLURM_USER')];
  }
}

function answerFinding({ accounts, answered, silent }: SlurmReport): Finding {
  if (accounts.length === 0) return skipped(CHECK, 'no account is there in whose name to ask');
  if (silent.length === 0) return ok(CHECK, `answers ${answered} of ${accounts.length} accounts`);
  const advice =
    'Check GRID_SLURM_URL, and GRID_SLURM_JWT_KEY (of the cluster) or GRID_SLURM_TOKEN (of SlurmUser where there are several accounts)';
  return fault(CHECK, `does not answer ${listOf(silent)}`, advice);
}

function accountFindings({ accounts, refusals }: SlurmReport): Finding[] {
  const text = `${accounts.length}: ${listOf(accounts)}`;
  if (refusals.length === 0) return [ok(ACCOUNTS, text)];
  const advice = 'Make the accounts, or leave it so: these jobs fail, and no others';
  return [warning(ACCOUNTS, listOf(refusals), advice)];
}

function listOf(items: readonly string[]): string {
  const left = items.length - SHOWN;
  return `${items.slice(0, SHOWN).join('; ')}${left > 0 ? `; and ${left} more` : ''}`;
}
