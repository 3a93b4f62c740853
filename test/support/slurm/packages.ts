import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** What a one-node Slurm needs: program or plug-in, and the Debian package that brings it. */
const NEEDS: readonly { name: string; package: string }[] = [
  { name: 'munged', package: 'munge' },
  { name: 'slurmctld', package: 'slurm-wlm' },
  { name: 'slurmd', package: 'slurm-wlm' },
  { name: 'slurmrestd', package: 'slurmrestd' },
  { name: 'auth_jwt.so', package: 'slurm-wlm-jwt-plugin' },
  { name: 'auth_munge.so', package: 'slurm-wlm-basic-plugins' },
  { name: 'jobcomp_filetxt.so', package: 'slurm-wlm-basic-plugins' },
];

/** What its accounting needs beside: a database of its own. */
const ACCOUNTING_NEEDS: readonly { name: string; package: string }[] = [
  { name: 'slurmdbd', package: 'slurmdbd' },
  { name: 'accounting_storage_mysql.so', package: 'slurm-wlm-mysql-plugin' },
  { name: 'accounting_storage_slurmdbd.so', package: 'slurm-wlm-basic-plugins' },
  { name: 'jobacct_gather_linux.so', package: 'slurm-wlm-basic-plugins' },
  { name: 'openapi_dbv0_0_38.so', package: 'slurm-wlm-basic-plugins' },
  { name: 'mariadbd', package: 'mariadb-server' },
  { name: 'mariadb-install-db', package: 'mariadb-server' },
];

const DIRECTORIES = [
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
  '/usr/lib/x86_64-linux-gnu/slurm-wlm',
  '/usr/lib/aarch64-linux-gnu/slurm-wlm',
];

/**
 * Why no Slurm can be started here, as a sentence: missing Debian packages, or missing root (slurmd refuses to
 * work without). Undefined when nothing is missing.
 */
export function slurmFault(): string | undefined {
  return faultOf(NEEDS);
}

/** Why no Slurm with accounting (slurmdbd, MariaDB) can be started here; undefined when nothing is missing. */
export function accountingFault(): string | undefined {
  return faultOf([...NEEDS, ...ACCOUNTING_NEEDS]);
}

function faultOf(needs: typeof NEEDS): string | undefined {
  const missing = needs.filter(({ name }) => !isThere(name)).map((need) => need.package);
  if (missing.length > 0) {
    const list = [...new Set(missing)].join(' ');
    return `packages are missing: apt-get install --no-install-recommends ${list}`;
  }
  if (process.getuid?.() !== 0) return 'slurmd must be started by root';
  return undefined;
}

function isThere(name: string): boolean {
  return DIRECTORIES.some((directory) => {
    try {
      accessSync(join(directory, name), constants.R_OK);
      return true;
    } catch {
      return false;
    }
  });
}
