import { readdirSync } from 'node:fs';
import { sleep } from '#src/kernel/index.js';
import { allProcesses, argumentsOf, isAlive, type ProcessEntry } from './process-table.js';

/** Programs that supervise or enclose a run. */
const ENCLOSING = /^(?:\/[\w/]+\/)?(?:sh|bwrap|unshare|setpriv|taskset) /;

/** By what the processes of a run are told. */
export interface RunTraces {
  /** The supervisor, while it is known. */
  leader: { pid: number; startTicks: string } | undefined;
  /** An account that nobody else has meanwhile. */
  uid: number | undefined;
}

/** Processes that belonged to a run at earlier looks: pid → start. */
export type Seen = Map<number, string>;

/**
 * The processes of a run among all of the machine: its session, what has its account, what belonged to it before, and
 * everything that descends from those. In a pid namespace orphans get a parent inside of it, so nothing of a run can
 * leave its descent; of an account nothing can leave it. Notes them in `seen`.
 */
export function membersOf(
  traces: RunTraces,
  seen: Seen,
  processes = allProcesses(),
): ProcessEntry[] {
  const { leader, uid } = traces;
  const session = leader && isAlive(leader) ? leader.pid : undefined;
  const members = new Map<number, ProcessEntry>();
  for (const entry of processes) {
    const isOwn =
      (session !== undefined && entry.session === session) ||
      seen.get(entry.pid) === entry.startTicks ||
      (uid !== undefined && entry.uid === uid);
    if (isOwn) members.set(entry.pid, entry);
  }
  addDescendants(members, processes);
  seen.clear();
  for (const { pid, startTicks } of members.values()) seen.set(pid, startTicks);
  return [...members.values()];
}

function addDescendants(
  members: Map<number, ProcessEntry>,
  processes: readonly ProcessEntry[],
): void {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of processes) {
    const known = children.get(entry.parent);
    if (known) known.push(entry);
    else children.set(entry.parent, [entry]);
  }
  const open = [...members.keys()];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (members.has(child.pid)) continue;
      members.set(child.pid, child);
      open.push(child.pid);
    }
  }
}

/**
 * Ends all processes of a run: all are stopped first, so that none can make another one unseen, then killed. Repeats
 * until none is left, for at most `timeoutMs`. Answers true when nothing is left.
 */
export async function endMembers(
  traces: RunTraces,
  seen: Seen,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  for (let look = 0; ; look += 1) {
    const members = membersOf(traces, seen);
    if (members.length === 0) return true;
    if (Date.now() > deadline) return false;
    for (const { pid } of members) signal(pid, 'SIGSTOP');
    for (const { pid } of membersOf(traces, seen)) signal(pid, 'SIGKILL');
    await sleep(Math.min(100, 2 * 2 ** look));
  }
}

/** Name of the run that a supervisor, or a program that encloses one, was started for; what all runs share is named before it. */
export function enclosedRun(words: string, directory: string): string | undefined {
  if (!ENCLOSING.test(words)) return undefined;
  const [, ...places] = words.split(`${directory}/`);
  for (const place of places) {
    const name = /^\d+\.\d+(?![\w.])/.exec(place)?.[0];
    if (name !== undefined) return name;
  }
  return undefined;
}

/**
 * Processes that enclose runs of the directory which are over. A run has its place there before its first process, so that is looked
 * at after the processes: what has begun since `alive` was written down is none of them.
 */
export function orphansOf(
  directory: string,
  alive: ReadonlySet<string>,
  look: () => readonly Pick<ProcessEntry, 'pid'>[] = allProcesses,
): number[] {
  const enclosed = look().map(
    ({ pid }) => [pid, enclosedRun(argumentsOf(pid), directory)] as const,
  );
  const there = new Set(readdirSync(directory));
  return enclosed.flatMap(([pid, name]) =>
    name === undefined || alive.has(name) || there.has(name) || pid === process.pid ? [] : [pid],
  );
}

/** Sends a signal; a process that is gone meanwhile is fine. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone already
  }
}
