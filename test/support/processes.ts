import { readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const GROUPS_DEPTH = 6;

/** A process of this machine. */
export interface RunningProcess {
  pid: number;
  parent: number;
  /** Its command line, blanks between the words. */
  command: string;
}

/** The processes that have not ended. A zombie has: it is gone but for its parent. */
export function runningProcesses(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .flatMap((pid) => {
      const [state, parent] = fieldsOf(pid);
      if (state === undefined || state === 'Z') return [];
      return [{ pid, parent: Number(parent), command: commandOf(pid) }];
    });
}

/** Its command line, blanks between the words; empty when it is gone. */
export function commandOf(pid: number): string {
  return read(pid, 'cmdline').replaceAll('\0', ' ').trimEnd();
}

/** What the kernel says of it, from its state on (proc(5), stat); empty when it is gone. */
export function fieldsOf(pid: number): string[] {
  const text = read(pid, 'stat');
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Control groups whose names begin so. */
export function controlGroups(name: string, path = '/sys/fs/cgroup', depth = 0): string[] {
  if (depth > GROUPS_DEPTH) return [];
  return foldersIn(path).flatMap((folder) => {
    const below = controlGroups(name, join(path, folder), depth + 1);
    return folder.startsWith(name) ? [join(path, folder), ...below] : below;
  });
}

/** Removes the control groups of that name and those below them; false while a process of one ends. */
export function removeControlGroups(name: string): boolean {
  for (const path of controlGroups(name)) {
    for (const folder of [...foldersIn(path).map((inside) => join(path, inside)), path]) {
      try {
        rmdirSync(folder);
      } catch {
        // a process of it ends this moment, or it was removed
      }
    }
  }
  return controlGroups(name).length === 0;
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
