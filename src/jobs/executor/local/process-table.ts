import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100; // USER_HZ of every Linux that runs Node
const PAGE_BYTES = 4096;
const KERNEL_THREADS = 2; // kthreadd, the parent of all of them
/** Variable in the environment of every process of a run: also those that leave the session are found by it. */
export const RUN_MARKER = 'GRIDGATE_RUN';

/** One process of this machine, as far as watching runs needs it. */
export class ProcessEntry {
  private readMark: { value: string | undefined } | undefined;

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

  /** When it was started; tells it from another process that had its pid. */
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

  /** The run that it belongs to by its environment; undefined when it is none of ours or not readable. */
  get mark(): string | undefined {
    this.readMark ??= { value: markOf(this.pid) };
    return this.readMark.value;
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

function processIds(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

function markOf(pid: number): string | undefined {
  let environment: string;
  try {
    environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return undefined; // gone, or of another account
  }
  const start = `\0${RUN_MARKER}=`;
  const at = `\0${environment}`.indexOf(start);
  if (at < 0) return undefined;
  const from = at + start.length - 1;
  const end = environment.indexOf('\0', from);
  return environment.slice(from, end < 0 ? undefined : end);
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
