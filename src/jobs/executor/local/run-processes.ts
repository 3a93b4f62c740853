import { sleep } from '#src/kernel/index.js';
import { allProcesses, isAlive, processEntry, type ProcessEntry } from './process-table.js';

/** What is known of a run when its processes are looked for. */
export interface RunTraces {
  /** The mark that its processes carry in their environment. */
  mark: string;
  /** The leader of its session, while that is known. */
  leader: { pid: number; startTicks: string } | undefined;
  /** Processes that belonged to it at earlier looks: pid → start. */
  seen: Map<number, string>;
}

/**
 * The processes of a run among all of the machine: its session, whatever carries its mark, what was seen to belong to
 * it before, and everything that descends from those. Adds them to `seen`: a program that leaves the session, clears
 * its environment and loses its parents stays known when it was looked at once before that.
 */
export function membersOf(traces: RunTraces, processes = allProcesses()): ProcessEntry[] {
  const { leader, mark, seen } = traces;
  const session = leader && isAlive(leader) ? leader.pid : undefined;
  const members = new Map<number, ProcessEntry>();
  for (const entry of processes) {
    const isOwn =
      (session !== undefined && entry.session === session) ||
      seen.get(entry.pid) === entry.startTicks ||
      entry.mark === mark;
    if (isOwn) members.set(entry.pid, entry);
  }
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const entry of processes) if (members.has(entry.parent)) members.set(entry.pid, entry);
  }
  seen.clear();
  for (const { pid, startTicks } of members.values()) seen.set(pid, startTicks);
  return [...members.values()];
}

/** True when something of the run lives beside its leader, as far as the last look knew. */
export function hasSurvivors(traces: RunTraces): boolean {
  return [...traces.seen].some(
    ([pid, startTicks]) =>
      pid !== traces.leader?.pid && processEntry(pid)?.startTicks === startTicks,
  );
}

/**
 * Ends all processes of a run. Repeats until none is left, for at most `timeoutMs`; programs that make new processes
 * faster than they are ended are first stopped one and all. Answers true when nothing is left.
 */
export async function endRun(traces: RunTraces, timeoutMs = 5_000): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  let known: ReadonlySet<number> = new Set();
  for (let look = 0; ; look += 1) {
    const members = membersOf(traces);
    if (members.length === 0) return true;
    if (Date.now() > deadline) return false;
    const grows = look > 0 && members.some(({ pid }) => !known.has(pid));
    known = new Set(members.map(({ pid }) => pid));
    for (const { pid } of members) signal(pid, grows ? 'SIGSTOP' : 'SIGKILL');
    if (!grows) await sleep(Math.min(100, 5 * 2 ** look));
  }
}

/** Sends a signal; a process that is gone meanwhile is fine. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone already
  }
}
