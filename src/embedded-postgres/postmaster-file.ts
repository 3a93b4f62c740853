import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, processStat } from '#src/runtime/index.js';

/** What `postmaster.pid` says: PostgreSQL's lock file in its data directory. */
export interface PostmasterFile {
  pid: number;
  /** The data directory that it was written for. */
  data: string;
  socketDirectory: string;
  port: number;
  /** The server takes connections; a stale file says so too, so look at the pid. */
  isReady: boolean;
}

/** Reads `postmaster.pid`; undefined when there is none or it is only half written. */
export function readPostmasterFile(data: string): PostmasterFile | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  // A negative pid is a stand-alone backend's (initdb, single-user mode).
  const pid = Math.abs(Number(lines[0]));
  if (!Number.isSafeInteger(pid) || pid === 0) return undefined;
  return {
    pid,
    data: lines[1] ?? '',
    port: Number(lines[3] ?? 0),
    socketDirectory: (lines[4] ?? '').trim(),
    isReady: (lines[7] ?? '').trim() === 'ready',
  };
}

/**
 * The running processes of a PostgreSQL on that data directory, its postmaster among them. On Linux they are
 * known by their working directory, which is the data directory for each of them: this also finds backends
 * whose postmaster was killed, and never takes a stranger for one who was given the recorded pid.
 */
export function postgresProcesses(data: string): number[] {
  if (processStat(process.pid) !== undefined) return linuxProcesses(data);
  const recorded = readPostmasterFile(data)?.pid;
  return recorded !== undefined && recorded !== process.pid && isRunning(recorded)
    ? [recorded]
    : [];
}

function linuxProcesses(data: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = processStat(pid);
      if (stat?.command !== 'postgres' || stat.state === 'Z' || stat.state === 'X') return false;
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === data;
      } catch {
        return false;
      }
    });
}
