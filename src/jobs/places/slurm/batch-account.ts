import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import type { FileOwner } from '../../sandbox/sandbox-archive.js';

/** The account under which batch jobs run. */
export interface BatchJobAccount {
  name: string;
  uid: number;
  gid: number;
  /** Set when it is another account than the service's: files must be given to it. */
  owner: FileOwner | undefined;
}

const run = promisify(execFile);

/**
 * The account of batch jobs: `name` when the service runs as root, else the service's own. Throws Error for a name
 * that does not exist or is root itself.
 */
export async function openBatchAccount(name: string): Promise<BatchJobAccount> {
  if (process.getuid?.() !== 0) {
    const own = userInfo();
    return { name: own.username, uid: own.uid, gid: own.gid, owner: undefined };
  }
  const { uid, gid } = await lookUp(name);
  if (uid === 0)
    throw new Error(`GRID_SLURM_USER=${name} is root; jobs need an account of their own`);
  return { name, uid, gid, owner: { uid, gid } };
}

async function lookUp(name: string): Promise<{ uid: number; gid: number }> {
  if (!/^[A-Za-z0-9_][\w.-]*$/.test(name)) throw new Error(`GRID_SLURM_USER=${name} is no account`);
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((text) => text.startsWith(`${name}:`));
  const fields = (line ?? (await askSystem(name))).split(':');
  const [uid, gid] = [Number(fields[2]), Number(fields[3])];
  if (fields.length < 4 || !Number.isInteger(uid) || !Number.isInteger(gid)) {
    throw new Error(`GRID_SLURM_USER=${name} does not exist on this machine`);
  }
  return { uid, gid };
}

/** Accounts may come from a directory service. */
async function askSystem(name: string): Promise<string> {
  return run('getent', ['passwd', name]).then(
    ({ stdout }) => stdout,
    () => '',
  );
}
