import { closeSync, constants, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { uptime } from 'node:os';

const TICKS_PER_SECOND = 100; // USER_HZ of every Linux that runs Node
const PAGE_BYTES = 4096;
const KERNEL_THREADS = 2; // kthreadd, the parent of all of them
const SHOWN_ARGUMENT_BYTES = 2_048;

/** One process of this machine, as far as watching runs needs it. Nothing in it can be made large by the process. */
export class ProcessEntry {
  private account: number | undefined;

  constructor(
    readonly pid: number,
    private readonly fields: readonly string[],
  ) {}

  get parent(): number {
    return Number(this.fields[1]);
  }

  get session(): number {
    return Number(this.fields[3]);
  }

  /** The account that it runs under; NaN when it is gone. */
  get uid(): number {
    return (this.account ??= accountIn(statusOf(this.pid)));
  }

  /** When it was started, in ticks of its boot; tells it from another process that had its pid. */
  get startTicks(): string {
    return this.fields[19] ?? '0';
  }

  /** Of the process itself and of its children that have ended. */
  get cpuSeconds(): number {
    const ticks = [11, 12, 13, 14].reduce((sum, n) => sum + Number(this.fields[n]), 0);
    return ticks / TICKS_PER_SECOND;
  }

  get rssBytes(): number {
    return Number(this.fields[21]) * PAGE_BYTES;
  }
}

/** How long a process has run that was started then, seconds. */
export function secondsSince(startTicks: string): number {
  return secondsOfBoot() - Number(startTicks) / TICKS_PER_SECOND;
}

/** Seconds of a clock that goes on while the machine sleeps, and that nobody sets. */
export function secondsOfBoot(): number {
  try {
    return Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
  } catch {
    return uptime();
  }
}

/** The process of that pid; undefined when there is none or it is dead and only waits to be reaped. */
export function processEntry(pid: number): ProcessEntry | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? '?';
  if (state === 'Z' || state === 'X') return undefined;
  return new ProcessEntry(pid, fields);
}

/** All processes of the machine that programs run in. Empty where there is no /proc. */
export function allProcesses(): ProcessEntry[] {
  return processIds().flatMap((pid) => {
    const entry = processEntry(pid);
    return entry && entry.parent !== KERNEL_THREADS ? [entry] : [];
  });
}

/** Whether any process of the machine runs under the account; looks at one after the other, without holding up others. */
export async function hasProcesses(uid: number): Promise<boolean> {
  for (const pid of (await readdir('/proc').catch(() => [])).filter(isProcessId)) {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    if (accountIn(status) === uid && !/^State:\t[ZX]/m.test(status)) return true;
  }
  return false;
}

/** What the kernel tells of a process, line by line; '' when it is gone, or on a system without /proc. */
export function statusOf(pid: number | 'self'): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}

function accountIn(status: string): number {
  return Number(/^Uid:\t(\d+)/m.exec(status)?.[1]);
}

/** The begin of a program's arguments, joined by spaces; '' when it is gone. */
export function argumentsOf(pid: number): string {
  const words = beginOf(`/proc/${pid}/cmdline`, SHOWN_ARGUMENT_BYTES);
  return words.toString('latin1').replaceAll('\0', ' ');
}

/** The first bytes of a file; none of one that cannot be read. */
export function beginOf(path: string, most: number): Buffer {
  const bytes = Buffer.alloc(most);
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return bytes.subarray(0, readSync(file, bytes));
    } finally {
      closeSync(file);
    }
  } catch {
    return bytes.subarray(0, 0);
  }
}

/** True when the very process (not another one with its pid) is alive. */
export function isAlive(leader: { pid: number; startTicks: string }): boolean {
  const entry = processEntry(leader.pid);
  if (entry) return leader.startTicks === '0' || entry.startTicks === leader.startTicks;
  if (processIds().length > 0) return false;
  try {
    process.kill(leader.pid, 0); // no /proc on this system
    return true;
  } catch {
    return false;
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').filter(isProcessId).map(Number);
  } catch {
    return [];
  }
}

function isProcessId(name: string): boolean {
  return /^\d+$/.test(name);
}
