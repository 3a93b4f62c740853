import type { Clock } from '#src/kernel/index.js';
import { shellWord } from '../../run/shell-word.js';

/** How the commands of a cluster are reached by ssh. */
export interface SshSettings {
  host: string;
  port: number;
  user: string;
  identityFile: string;
  knownHostsFile: string;
  /** Directory there that has the commands of Slurm; undefined: they are on the usual PATH. */
  programs?: string | undefined;
  /** SLURM_CONF there; undefined: Slurm's default. */
  configFile?: string | undefined;
  timeoutMs: number;
  clock?: Clock;
}

const PERSIST_SECONDS = 30;
const ALIVE_SECONDS = 5;
const ALIVE_MISSED = 2;

/**
 * Options of OpenSSH: nothing of this machine's or user's configuration, no agent, no password, no forwarding, and no host whose
 * key does not stand in `knownHostsFile`. Calls share one connection (`controlPath`), whose dead other end is noticed.
 */
export function sshOptions(settings: SshSettings, controlPath: string): string[] {
  const { knownHostsFile, identityFile, timeoutMs } = settings;
  const options = {
    BatchMode: 'yes',
    StrictHostKeyChecking: 'yes',
    UserKnownHostsFile: knownHostsFile,
    GlobalKnownHostsFile: '/dev/null',
    UpdateHostKeys: 'no',
    VerifyHostKeyDNS: 'no',
    CheckHostIP: 'no',
    IdentityFile: identityFile,
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    PreferredAuthentications: 'publickey',
    ForwardAgent: 'no',
    ForwardX11: 'no',
    ClearAllForwardings: 'yes',
    PermitLocalCommand: 'no',
    RequestTTY: 'no',
    ConnectTimeout: Math.max(1, Math.floor(timeoutMs / 1000)),
    ServerAliveInterval: ALIVE_SECONDS,
    ServerAliveCountMax: ALIVE_MISSED,
    LogLevel: 'ERROR',
    ControlMaster: 'auto',
    ControlPersist: PERSIST_SECONDS,
    ControlPath: controlPath,
  };
  return [
    '-F',
    'none',
    ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
  ];
}

/** Where to: after it comes the command. */
export function sshTarget({ host, port, user }: SshSettings): string[] {
  return ['-p', String(port), '-l', user, '--', host];
}

/**
 * The line for the shell of the account there: each word quoted, nothing of its environment kept, so that no `SBATCH_…`
 * variable of a profile counts. Throws for a word that not every shell would keep as it is.
 */
export function remoteLine(words: readonly string[], settings: SshSettings, path: string): string {
  const { programs, configFile } = settings;
  const line = [
    ...['exec', 'env', '-i', `PATH=${programs === undefined ? path : `${programs}:${path}`}`],
    ...['LANG=C.UTF-8', ...(configFile === undefined ? [] : [`SLURM_CONF=${configFile}`])],
    ...words,
  ];
  const [exec = '', ...rest] = line;
  return [exec, ...rest.map(word)].join(' ');
}

function word(text: string): string {
  if (/[\r\n]/.test(text)) throw new Error('a line break in a command for another machine');
  return shellWord(text);
}
