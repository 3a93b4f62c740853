import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runningProcesses } from '../processes.js';

const EVERYBODYS = ['/tmp', '/var/tmp', '/dev/shm'];

/** What there is of hostile programs that are over, beside the directory of one run that goes on. */
export interface Remains {
  directories: string[];
  /** Pids of programs that sleep for `mark` seconds. */
  sleepers: number[];
  /** Files that carry the mark. */
  files: string[];
  /** IPC objects of accounts of jobs. */
  objects: string[];
}

export function remainsOf(runs: string, besides: string, mark: string): Remains {
  const directories = readdirSync(runs).filter((name) => /^\d/.test(name) && name !== besides);
  const sleepers = runningProcesses().filter(({ command }) => command === `sleep ${mark}`);
  const files = EVERYBODYS.flatMap((path) =>
    readdirSync(path)
      .filter((name) => name.startsWith(`hostile-left-${mark}`))
      .map((name) => join(path, name)),
  );
  return {
    directories,
    sleepers: sleepers.map(({ pid }) => pid),
    files,
    objects: ['shm', 'sem', 'msg'].flatMap(objectsOfJobs),
  };
}

/** Ends and removes what a way cannot keep programs from leaving. */
export function removeRemains({ sleepers, files }: Remains): void {
  for (const pid of sleepers) process.kill(pid, 'SIGKILL');
  for (const path of files) rmSync(path, { force: true });
}

function objectsOfJobs(kind: string): string[] {
  const [head = '', ...lines] = readFileSync(`/proc/sysvipc/${kind}`, 'utf8').trim().split('\n');
  const column = head.trim().split(/\s+/).indexOf('cuid');
  const owner = (line: string): number => Number(line.trim().split(/\s+/)[column]);
  return lines.filter((line) => owner(line) >= 200_000 && owner(line) <= 265_535);
}
