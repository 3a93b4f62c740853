import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Tells accounts that a test made, and did not come to remove, from those of people. */
const COMMENT = 'made by a test of gridgate';

/** An account of this machine. */
export interface UnixAccount {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Real accounts of this machine, made for a test by root and removed after it. One of that name that is there already
 * would be somebody's: refused.
 */
export class UnixAccounts {
  private constructor(private readonly made: Map<string, UnixAccount>) {}

  static async make(names: readonly string[]): Promise<UnixAccounts> {
    const accounts = new UnixAccounts(new Map());
    try {
      for (const name of names) accounts.made.set(name, await add(name));
    } catch (error) {
      await accounts.remove();
      throw error;
    }
    return accounts;
  }

  /** Why they cannot be made here, as a sentence; undefined when they can. */
  static async fault(names: readonly string[]): Promise<string | undefined> {
    if (process.getuid?.() !== 0) return 'accounts can be made by root only';
    for (const name of names) {
      const found = await find(name);
      if (found !== undefined && !found.isOurs) return `the account ${name} is there already`;
    }
    return undefined;
  }

  of(name: string): UnixAccount {
    const account = this.made.get(name);
    if (account === undefined) throw new Error(`no account ${name} was made`);
    return account;
  }

  async remove(): Promise<void> {
    for (const name of this.made.keys()) await run('userdel', [name]).catch(() => undefined);
    this.made.clear();
  }
}

async function add(name: string): Promise<UnixAccount> {
  if ((await find(name))?.isOurs === true) await run('userdel', [name]);
  const options = [
    '--comment',
    COMMENT,
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/bin/sh',
  ];
  await run('useradd', [...options, '--user-group', name]);
  const account = await find(name);
  if (account === undefined) throw new Error(`useradd has not made the account ${name}`);
  return account;
}

async function find(name: string): Promise<(UnixAccount & { isOurs: boolean }) | undefined> {
  const { stdout } = await run('getent', ['passwd', name]).catch(() => ({ stdout: '' }));
  const [found, , uid, gid, comment] = stdout.trim().split(':');
  if (found !== name) return undefined;
  return { name, uid: Number(uid), gid: Number(gid), isOurs: comment === COMMENT };
}
