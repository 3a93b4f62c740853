import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** What tells one process from every other one, also after its pid was given to another. */
export interface ProcessIdentity {
  pid: number;
  /** Clock ticks after boot at which the process started; null where there is no /proc. */
  startTicks: string | null;
  /** Kernel boot id and pid namespace, or the host name: where the pid means something. */
  scope: string;
}

/** The state letter and start time of a process from /proc/<pid>/stat; undefined when it is not there. */
export function processStat(
  pid: number,
): { command: string; state: string; startTicks: string } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The command is in brackets and may hold blanks and brackets itself: the last bracket ends it.
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  return {
    command: text.slice(text.indexOf('(') + 1, end),
    state: fields[0] ?? '?',
    startTicks: fields[19] ?? '0',
  };
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    startTicks: processStat(process.pid)?.startTicks ?? null,
    scope: pidScope(),
  };
}

function pidScope(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/**
 * Whether a pid of this machine is a running process. A zombie does not run any more although signals still
 * reach it: whoever adopted it may reap it late or (a container without an init) never.
 */
export function isRunning(pid: number): boolean {
  const stat = processStat(pid);
  if (stat !== undefined) return stat.state !== 'Z' && stat.state !== 'X';
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the very process of that identity runs; its scope must be ours. */
export function isSameProcessRunning(identity: ProcessIdentity): boolean {
  if (!isRunning(identity.pid)) return false;
  if (identity.startTicks === null) return true;
  const stat = processStat(identity.pid);
  return stat === undefined || stat.startTicks === identity.startTicks;
}

/** Words for this process in the name of a file, by which others tell whether it has ended: `<scope>.<pid>.<start>`. */
export function processMark(): string {
  const { pid, startTicks, scope } = ownIdentity();
  return [scopeWord(scope), pid, startTicks ?? 0].join('.');
}

/** True when the process of the mark has certainly ended; of one in another container, machine or boot nothing is known. */
export function hasEnded(mark: string): boolean {
  const [word, pid, startTicks = '0'] = mark.split('.');
  const scope = pidScope();
  if (word !== scopeWord(scope)) return false;
  const start = startTicks === '0' ? null : startTicks;
  return !isSameProcessRunning({ pid: Number(pid), startTicks: start, scope });
}

function scopeWord(scope: string): string {
  return createHash('sha256').update(scope).digest('hex').slice(0, 12);
}
