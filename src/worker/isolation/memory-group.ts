import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file of a control group with its limit is written into as decimal bytes. */
interface GroupFiles {
  limit: string;
  /** What else is to be bound; a kernel may be without it. */
  more: readonly (readonly [name: string, value: 'bytes' | '0' | '1'])[];
  /** Lines `oom_kill <n>` of how often the kernel has ended a process, as memory was not enough. */
  events: string;
}

const FILES: Record<1 | 2, GroupFiles> = {
  1: {
    limit: 'memory.limit_in_bytes',
    more: [
      ['memory.memsw.limit_in_bytes', 'bytes'], // with swap
      ['memory.kmem.tcp.limit_in_bytes', 'bytes'], // sockets
    ],
    events: 'memory.oom_control',
  },
  2: {
    limit: 'memory.max',
    more: [
      ['memory.swap.max', '0'],
      ['memory.oom.group', '1'], // all of a job ends, not the largest of its processes
    ],
    events: 'memory.events',
  },
};

/**
 * Control groups that bound the memory of runs: whatever the kernel holds for a run counts, also sockets, memfds and page tables. One
 * group a run, below one of the worker.
 */
export class MemoryGroups {
  private readonly files: GroupFiles;

  private constructor(
    private readonly parent: string,
    version: 1 | 2,
  ) {
    this.files = FILES[version];
  }

  /**
   * Makes the group of a worker, where the system lets it: with version 1 below the one that it is in, with version 2 beside it, since a
   * group with processes gives its groups no memory of their own (systemd: `Delegate=memory` and `DelegateSubgroup=`). Undefined
   * where that cannot be.
   */
  static open(name: string): MemoryGroups | undefined {
    const place = memoryPlace(readLines('/proc/self/mountinfo'), readLines('/proc/self/cgroup'));
    if (!place) return undefined;
    const { version, directory } = place;
    const groups = new MemoryGroups(join(directory, `gridgate-${name}`), version);
    try {
      groups.prepare(version);
      return groups;
    } catch {
      groups.close();
      return undefined;
    }
  }

  /** Makes the group of a run and answers the file by which a process enters it. Throws the file system's error. */
  make(run: string, bytes: number): string {
    const path = this.pathOf(run);
    mkdirSync(path, { recursive: true }); // of an earlier try of the same run
    writeFileSync(join(path, this.files.limit), String(bytes));
    for (const [name, value] of this.files.more) {
      try {
        writeFileSync(join(path, name), value === 'bytes' ? String(bytes) : value);
      } catch {
        // a kernel without it
      }
    }
    return join(path, 'cgroup.procs');
  }

  /** Whether memory was not enough for the run, so that the kernel has ended a process of it; undefined for a run without a group. */
  wasShort(run: string): boolean | undefined {
    const lines = readLines(join(this.pathOf(run), this.files.events));
    if (lines.length === 0) return undefined;
    return lines.some((line) => /^oom_kill [1-9]/.test(line));
  }

  /** Removes the group of a run of which no process is left; not there is fine. */
  remove(run: string): void {
    removeGroup(this.pathOf(run));
  }

  /** Removes the group of the worker, unless runs go on. */
  close(): void {
    removeGroup(this.parent);
  }

  private prepare(version: 1 | 2): void {
    const trial = 'probe';
    if (version === 2) {
      enableMemory(dirname(this.parent));
      mkdirSync(this.parent, { recursive: true });
      enableMemory(this.parent);
    }
    this.make(trial, 2 ** 30);
    this.remove(trial);
  }

  private pathOf(run: string): string {
    return join(this.parent, run);
  }
}

/** Where a worker may make its group, by the kernel's own lines; undefined where memory is in no group. */
export function memoryPlace(
  mounts: readonly string[],
  groups: readonly string[],
): { version: 1 | 2; directory: string } | undefined {
  const found = mounts.flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ');
    const [, , , root = '/', path = ''] = left.split(' ');
    const [type, , options = ''] = right.split(' ');
    return [{ root, path, type, options: options.split(',') }];
  });
  const older = found.find(({ type, options }) => type === 'cgroup' && options.includes('memory'));
  const mount = older ?? found.find(({ type }) => type === 'cgroup2');
  if (!mount) return undefined;
  const line = groups.find((group) =>
    older ? group.split(':')[1]?.split(',').includes('memory') : group.startsWith('0::'),
  );
  if (line === undefined) return undefined;
  const own = line.split(':').slice(2).join(':');
  // A container sees a part of the tree.
  const inside = own === mount.root || own.startsWith(`${mount.root}/`);
  const below = mount.root !== '/' && inside ? own.slice(mount.root.length) : own;
  const directory = join(mount.path, below);
  if (older) return { version: 1, directory };
  return { version: 2, directory: below === '/' || below === '' ? mount.path : dirname(directory) };
}

/** Groups below that one get memory of their own. Throws EBUSY when there are processes in it. */
function enableMemory(path: string): void {
  const file = join(path, 'cgroup.subtree_control');
  const enabled = readFileSync(file, 'utf8').trim().split(' ');
  if (!enabled.includes('memory')) writeFileSync(file, '+memory');
}

function removeGroup(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // there are processes in it, or it is gone
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
