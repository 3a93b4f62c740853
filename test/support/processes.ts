import { readdirSync, readFileSync } from 'node:fs';

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

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
