import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/**
 * As whom PostgreSQL runs: it refuses to run as root.
 * `self`: as this process (not root) · `account`: root drops to an account of the system ·
 * `namespace`: root in a user namespace, where it appears as that account; the files stay root's.
 */
export interface PostgresAccount {
  kind: 'self' | 'account' | 'namespace';
  name: string;
  uid: number;
  gid: number;
}

/** Accounts to drop to, best first. Not `nobody` before the others: jobs of this service may run as it. */
const ACCOUNT_NAMES = ['postgres', 'daemon', 'nobody'];

/** Nothing of our environment reaches PostgreSQL: no PG* variables, no loader settings, no locale. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** The accounts of /etc/passwd that root may drop to, best first; none of them is root. */
export async function systemAccounts(): Promise<PostgresAccount[]> {
  const accounts = await readPasswd();
  return ACCOUNT_NAMES.flatMap((name) => accounts.filter((account) => account.name === name));
}

/** The account with that uid, which initdb and postgres need to find in passwd. */
export async function accountOfUid(uid: number): Promise<PostgresAccount | undefined> {
  return (await readPasswd()).find((account) => account.uid === uid);
}

async function readPasswd(): Promise<PostgresAccount[]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4 && fields[2] !== '0')
    .map((fields) => ({
      kind: 'account' as const,
      name: fields[0] ?? '',
      uid: Number(fields[2]),
      gid: Number(fields[3]),
    }));
}

/** Starts a program as the account, in a session of its own, so that Ctrl-C at a terminal does not reach it. */
export function spawnAs(
  account: PostgresAccount,
  program: string,
  args: string[],
  stdio: StdioOptions,
): ChildProcess {
  const options = { cwd: '/', env: ENVIRONMENT, stdio, detached: true };
  switch (account.kind) {
    case 'self':
      return spawn(program, args, options);
    case 'account':
      return spawn(program, args, { ...options, uid: account.uid, gid: account.gid });
    case 'namespace': {
      const map = [`--map-user=${account.uid}`, `--map-group=${account.gid}`];
      return spawn('unshare', ['--user', ...map, '--', program, ...args], options);
    }
  }
}

/** Runs a program as the account to its end; answers its exit code (-1: not startable) and all it said. */
export function runAs(
  account: PostgresAccount,
  program: string,
  args: string[],
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawnAs(account, program, args, ['ignore', 'pipe', 'pipe']);
    const collect = (chunk: Buffer): void => {
      if (output.length < 100_000) output += chunk.toString('utf8');
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('error', (error) => resolve({ code: -1, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? -1, output: output.trim() }));
  });
}

/** Whether the account can write in the directory and (when given) run the program. */
export async function canUse(
  account: PostgresAccount,
  directory: string,
  program?: string,
): Promise<boolean> {
  const script = 'cd -- "$1" && test -w . && { test -z "$2" || "$2" --version; }';
  const result = await runAs(account, '/bin/sh', ['-c', script, 'sh', directory, program ?? '']);
  return result.code === 0;
}
