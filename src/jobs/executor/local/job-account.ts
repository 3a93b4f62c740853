import { execFile } from 'node:child_process';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { FileOwner } from '../../sandbox/sandbox-archive.js';

/** The account under which payloads run. */
export interface JobAccount {
  name: string;
  uid: number;
  gid: number;
  /** Set when it is another account than the service's: files must be given to it. */
  owner: FileOwner | undefined;
  /** Program and arguments that give up root's rights before the payload; empty for the own account. */
  prefix: readonly string[];
}

const run = promisify(execFile);
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'];
const CHROOT = ['/usr/sbin/chroot', '/usr/bin/chroot', '/sbin/chroot', '/bin/chroot'];

/**
 * The account of jobs: `name` when the service runs as root, else the service's own. Throws Error for a name that
 * does not exist or is root itself, and when nothing on the machine can give up root's rights.
 */
export async function openJobAccount(name: string): Promise<JobAccount> {
  if (process.getuid?.() !== 0) {
    const own = userInfo();
    return { name: own.username, uid: own.uid, gid: own.gid, owner: undefined, prefix: [] };
  }
  const { uid, gid } = await lookUp(name);
  if (uid === 0)
    throw new Error(`GRID_JOB_USER=${name} is root; jobs need an account of their own`);
  return { name, uid, gid, owner: { uid, gid }, prefix: await dropPrefix(uid, gid) };
}

async function lookUp(name: string): Promise<{ uid: number; gid: number }> {
  if (!/^[A-Za-z0-9_][\w.-]*$/.test(name)) throw new Error(`GRID_JOB_USER=${name} is no account`);
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((text) => text.startsWith(`${name}:`));
  const fields = (line ?? (await askSystem(name))).split(':');
  const [uid, gid] = [Number(fields[2]), Number(fields[3])];
  if (fields.length < 4 || !Number.isInteger(uid) || !Number.isInteger(gid)) {
    throw new Error(`GRID_JOB_USER=${name} does not exist on this machine`);
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

async function dropPrefix(uid: number, gid: number): Promise<string[]> {
  const setpriv = await firstThatWorks(SETPRIV, ['--no-new-privs', '/bin/true']);
  if (setpriv !== undefined) {
    const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
    return [setpriv, ...ids, '--inh-caps=-all', '--no-new-privs', '--'];
  }
  const chroot = await firstThatWorks(CHROOT, ['--userspec=0:0', '/', '/bin/true']);
  if (chroot !== undefined) {
    // chroot starts in /, so a shell goes back to where the payload belongs.
    const enter = 'cd "$0" && exec "$@"';
    return [chroot, `--userspec=${uid}:${gid}`, '--groups=', '/', '/bin/sh', '-c', enter, '.'];
  }
  throw new Error('as root, jobs need setpriv (util-linux) or chroot (coreutils) on this machine');
}

async function firstThatWorks(
  candidates: readonly string[],
  trial: readonly string[],
): Promise<string | undefined> {
  for (const program of candidates) {
    const works = await run(program, [...trial]).then(
      () => true,
      () => false,
    );
    if (works) return program;
  }
  return undefined;
}

/** True when the account may execute the plain file at that absolute path, every directory on the way included. */
export async function mayExecute(
  path: string,
  account: Pick<JobAccount, 'uid' | 'gid' | 'owner'>,
): Promise<boolean> {
  try {
    const info = await stat(path);
    if (!info.isFile()) return false;
    if (!account.owner) {
      await access(path, constants.X_OK);
      return true;
    }
    if (!hasExecuteBit(info, account)) return false;
    return await mayReach(dirname(path), account);
  } catch {
    return false;
  }
}

/** True when the account may pass through every directory of the absolute path. Throws when it does not exist. */
export async function mayReach(
  path: string,
  account: Pick<JobAccount, 'uid' | 'gid'>,
): Promise<boolean> {
  for (let directory = path; ; directory = dirname(directory)) {
    if (!hasExecuteBit(await stat(directory), account)) return false;
    if (directory === dirname(directory)) return true;
  }
}

function hasExecuteBit(
  info: { mode: number; uid: number; gid: number },
  account: Pick<JobAccount, 'uid' | 'gid'>,
): boolean {
  if (info.uid === account.uid) return (info.mode & 0o100) !== 0;
  if (info.gid === account.gid) return (info.mode & 0o010) !== 0;
  return (info.mode & 0o001) !== 0;
}
