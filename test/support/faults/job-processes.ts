import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { commandOf, fieldsOf } from '../processes.js';
import { eventually } from '../testbed.js';

/** The processes of one local job that runs now. */
export interface JobProcesses {
  jid: number;
  /** The supervisor: leader of the session. */
  wrapper: number;
  /** Its child, which is, or becomes, the program of the job. */
  payload: number;
}

const MARKER = 'GRIDGATE_RUN=';

/** Every process of this machine that carries the mark of a run of these executors (`local:<id>/<jid>.<attempt>`). */
export function markedProcesses(executors: ReadonlySet<string>): { pid: number; mark: string }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    const mark = markOf(name);
    if (mark === undefined || !executors.has(mark.slice(0, mark.indexOf('/')))) return [];
    return stateOf(Number(name)) === undefined ? [] : [{ pid: Number(name), mark }];
  });
}

/** Jobs whose supervisor and payload both live. */
export function runningJobs(executors: ReadonlySet<string>): JobProcesses[] {
  const marked = markedProcesses(executors).map((one) => ({ ...one, ...statOf(one.pid) }));
  const wrappers = marked.filter(({ pid, session }) => pid === session);
  return wrappers.flatMap(({ pid, mark }) => {
    const payload = marked.find(({ parent }) => parent === pid);
    if (!payload) return [];
    return [{ jid: Number(/\/(\d+)\./.exec(mark)?.[1]), wrapper: pid, payload: payload.pid }];
  });
}

/** True when the program has its own shell already: before that it is still a part of the service's doing. */
export function hasBegun(job: JobProcesses): boolean {
  return existsSync(`/proc/${job.wrapper}/cwd/started`);
}

/** True when the supervisor has noted the end of the payload. */
export function hasEnded(job: JobProcesses): boolean {
  return existsSync(`/proc/${job.wrapper}/cwd/exit`);
}

/** Stops a process for good; true when it stands still, so that whatever it had not done by then it never does. */
export async function freeze(pid: number): Promise<boolean> {
  if (!signal(pid, 'SIGSTOP')) return false;
  const state = await eventually(
    () => Promise.resolve([undefined, 'T', 'Z'].includes(stateOf(pid)) && [stateOf(pid)]),
    `process ${pid} to stop`,
  );
  return state[0] === 'T';
}

/** A process as a note shows it: arguments, working directory, mark of the run. */
export function shownProcess(pid: number): object {
  const words = commandOf(pid).slice(0, 200);
  return { pid, words, cwd: workingDirectoryOf(pid), mark: markOf(String(pid)) };
}

function workingDirectoryOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** Sends a signal; false when there is no such process any more. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function markOf(pid: string): string | undefined {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return entries.find((entry) => entry.startsWith(MARKER))?.slice(MARKER.length);
  } catch {
    return undefined;
  }
}

function statOf(pid: number): { parent: number; session: number } {
  const fields = fieldsOf(pid);
  return { parent: Number(fields[1] ?? 0), session: Number(fields[3] ?? 0) };
}

/** The letter of its state; undefined when it is gone. A zombie is gone but for its parent. */
function stateOf(pid: number): string | undefined {
  return fieldsOf(pid)[0];
}
