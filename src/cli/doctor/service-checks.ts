import { demandsPkce, type KeysService } from '../../auth/index.js';
import { openSettings, type Config } from '#src/config/index.js';
import type { IsolationReport } from '../../worker/index.js';
import {
  groupsBesideVos,
  hasSeveralVos,
  type Client,
  type Group,
  type Site,
} from '../../registry/index.js';
import { fault, ok, reasonOf, skipped, warning, type Finding } from './finding.js';

/** The signing keys can be opened with the key of this environment, and one of them signs. */
export async function checkKeys(config: Config, keys: KeysService): Promise<Finding> {
  const check = 'signing keys';
  try {
    const all = await keys.report();
    if (all.length === 0) {
      return warning(check, 'there is none yet', 'The first start makes them');
    }
    await keys.signingKey();
    const text = `${all.length} keys, one of them signs (${all.map(({ algorithm }) => algorithm)[0]})`;
    if (config.keyEncryptionKey === undefined) {
      const advice =
        'Set GRID_KEY_ENCRYPTION_KEY (openssl rand -base64 32), the same on all instances';
      const isFile = config.databaseUrl === undefined;
      return isFile
        ? ok(check, `${text}; encrypted with the key in GRID_HOME`)
        : warning(check, `${text}; they lie unencrypted in the database`, advice);
    }
    return ok(check, `${text}; encrypted with GRID_KEY_ENCRYPTION_KEY`);
  } catch (error) {
    const advice = 'GRID_KEY_ENCRYPTION_KEY must be the one with which the keys were stored';
    return fault(check, reasonOf(error), advice);
  }
}

/** Public applications of the registry from which no PKCE is demanded: who reads a code of theirs can use it (RFC 9700 §2.1.1). */
export function checkApplications(
  { requirePkce }: Pick<Config, 'requirePkce'>,
  applications: readonly Client[],
): Finding {
  const check = 'applications';
  const open = applications
    .filter((client) => !client.confidential && !demandsPkce(client, requirePkce))
    .map(({ id }) => id);
  if (open.length === 0) return ok(check, 'PKCE is demanded of every public one');
  const names = open.join(', ');
  return warning(
    check,
    `no PKCE is demanded of the public ${names}`,
    'Set GRID_REQUIRE_PKCE=public, or register them with the profile oauth2.1',
  );
}

/** Are the borders of virtual organisations what they seem to be? */
export function checkBorders(
  config: Pick<Config, 'globalJobs' | 'catalogueGlobalRead'>,
  groups: readonly Group[],
): Finding {
  const check = 'virtual organisations';
  const open = hasSeveralVos(groups) ? openSettings(config) : [];
  if (open.length > 0) {
    return warning(
      check,
      `${open.map((name) => `${name}=true`).join(' and ')}: users see what belongs to other virtual organisations`,
      'Leave them out, or set them to `vo`',
    );
  }
  const outside = groupsBesideVos(groups);
  if (outside.length === 0) return ok(check, 'every group of NormalUser has its own');
  return warning(
    check,
    `beside several, the groups ${outside.join(', ')} have NormalUser and belong to none`,
    'Give them a `vo`: what their members submit belongs to none, and with another property they see that of all',
  );
}

/** Does this machine have the GPUs that its sites declare? Nothing where none declares any. */
export function checkGpus(
  { allowLocalExecutor }: Pick<Config, 'allowLocalExecutor'>,
  sites: readonly Site[],
  has: number,
): Finding[] {
  const check = 'GPUs of local sites';
  const declaring = sites.filter(
    ({ backend, gpus = 0 }) => backend === 'local-process' && gpus > 0,
  );
  if (!allowLocalExecutor || declaring.length === 0) return [];
  const lacking = declaring.filter(({ gpus = 0 }) => gpus > has);
  if (lacking.length === 0)
    return [ok(check, `this machine has ${has}, and no site declares more`)];
  const names = lacking.map(({ name, gpus }) => `${name} declares ${gpus}`).join(', ');
  const text = `this machine has ${has}, and ${names}: no job that asks for GPUs starts there`;
  return [warning(check, text, 'Let them declare what `nvidia-smi -L` shows')];
}

/** How local jobs are kept apart from the service and each other on this machine. */
export function isolationFinding({ level, reason, isWanted }: IsolationReport): Finding {
  const check = 'isolation of local jobs';
  if (level === 'none') {
    const advice = 'Set GRID_LOCAL_ISOLATION=auto: now a job can do whatever the service can';
    return warning(check, `level none: ${reason}`, advice);
  }
  if (level !== 'off') return ok(check, `level ${level}: ${reason}`);
  if (!isWanted) return skipped(check, `off: ${reason}`);
  const advice =
    'Local sites are off, everything else works; see docs/explanation/what-a-job-can-do.md';
  return warning(check, `off: ${reason}`, advice);
}
