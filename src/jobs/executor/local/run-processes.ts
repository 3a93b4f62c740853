import { readdirSync, readFileSync, statSync } from 'node:fs';
import { sleep } from '#src/kernel/index.js';

/** One process of this machine, as far as watching runs needs it. */
export interface ProcessEntry {
  pid: number;
  parent: number;
  session: number;
  state: string;
  startTicks: string;
  cpuSeconds: number;
  rssBytes: number;
  threads: number;
}

const TICKS_PER_SECOND = 100; // USER_HZ of every Linux that runs Node
const PAGE_BYTES = 4096;
/** Variable in the environment of every process of a run: also those that leave the session are found by it. */
export const RUN_MARKER = 'GRIDGATE_RUN';

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
  return {
    pid,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    state,
    startTicks: fields[19] ?? '0',
    cpuSeconds: [11, 12, 13, 14].reduce((sum, n) => sum + Number(fields[n]), 0) / TICKS_PER_SECOND,
    rssBytes: Number(fields[21]) * PAGE_BYTES,
    threads: Number(fields[17]),
  };
}

/** All processes of the machine. Empty where there is no /proc. */
export function allProcesses(): ProcessEntry[] {
  return processIds().flatMap((pid) => processEntry(pid) ?? []);
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

/** The run that a process belongs to by its environment; undefined when it is none of ours or not readable. */
export function markOf(pid: number): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    const start = `${RUN_MARKER}=`;
    return environment
      .split('\0')
      .find((entry) => entry.startsWith(start))
      ?.slice(start.length);
  } catch {
    return undefined;
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

/**
 * Ends all processes of a run: its session, and whatever has left it but carries the run's mark. Repeats until
 * none is left, for at most `timeoutMs`. Answers true when nothing is left.
 */
export async function endRun(
  mark: string,
  leader: { pid: number; startTicks: string } | undefined,
  timeoutMs = 5_000,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = 5; ; pause = Math.min(100, pause * 2)) {
    const session = leader && isAlive(leader) ? leader.pid : undefined;
    const others = membersOf(mark, session); // before the parents are gone
    if (session !== undefined) killGroup(session);
    for (const pid of others) signal(pid);
    if (session === undefined && others.length === 0) return true;
    if (Date.now() > deadline) return false;
    await sleep(pause);
  }
}

function killGroup(pid: number): void {
  signal(-pid);
  signal(pid);
}

/** The session, what carries the mark, and everything that descends from those. */
function membersOf(mark: string, session: number | undefined): number[] {
  const processes = allProcesses();
  const members = new Set<number>();
  for (const entry of processes) {
    const isOfSession = session !== undefined && entry.session === session;
    if (isOfSession || (isCandidate(entry.pid) && markOf(entry.pid) === mark)) {
      members.add(entry.pid);
    }
  }
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const { pid, parent } of processes) if (members.has(parent)) members.add(pid);
  }
  if (session !== undefined) members.delete(session);
  return [...members];
}

/** Only processes of the account that the service may look into; kernel threads have no environment. */
function isCandidate(pid: number): boolean {
  const own = process.getuid?.();
  if (own === 0) return true;
  try {
    return statSync(`/proc/${pid}`).uid === own;
  } catch {
    return false;
  }
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone already
  }
}
