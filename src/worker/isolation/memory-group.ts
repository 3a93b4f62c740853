import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Files of a control group. */
interface GroupFiles {
  /** Its limit, bytes. */
  limit: string;
  /** The one that bounds swap as well. */
  swap: string;
  /** What else is to be bound, for a limit of so many bytes; a kernel may be without it. */
  more: (bytes: number) => readonly (readonly [name: string, value: number])[];
  /** A line `oom_kill <n>` of how often the kernel has ended a process of it, whosever memory was not enough. */
  events: string;
  /** Whether the memory of the group of this path has come to its limit. */
  isReached: (path: string) => boolean;
}

/** The kernel asks for a large page at once. */
const AT_ONCE_BYTES = 4 * 2 ** 20;
/** With version 1 memory of sockets counts for itself. */
const PART_OF_SOCKETS = 16;

const FILES: Record<1 | 2, GroupFiles> = {
  1: {
    limit: 'memory.limit_in_bytes',
    swap: 'memory.memsw.limit_in_bytes',
    more: (bytes) => [
      ['memory.memsw.limit_in_bytes', bytes],
      ['memory.kmem.tcp.limit_in_bytes', Math.ceil(bytes / PART_OF_SOCKETS)],
    ],
    events: 'memory.oom_control',
    // Newer kernels leave `memory.failcnt` at 0.
    isReached: (path) => {
      const [most = 0, limit = 0] = ['max_usage', 'limit'].map((name) =>
        Number(readLines(join(path, `memory.${name}_in_bytes`))[0]),
      );
      return most + AT_ONCE_BYTES >= limit;
    },
  },
  2: {
    limit: 'memory.max',
    swap: 'memory.swap.max',
    more: () => [
      ['memory.swap.max', 0],
      ['memory.oom.group', 1], // all of a job ends, not the largest of its processes
    ],
    events: 'memory.events',
    isReached: (path) =>
      readLines(join(path, 'memory.events')).some((line) => /^oom [1-9]/.test(line)),
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

  /** Makes the group of a run and answers its path. Throws the file system's error. */
  make(run: string, bytes: number): string {
    const path = this.pathOf(run);
    mkdirSync(path, { recursive: true }); // of an earlier try of the same run
    writeFileSync(join(path, this.files.limit), String(bytes));
    for (const [name, value] of this.files.more(bytes)) {
      try {
        writeFileSync(join(path, name), String(value));
      } catch {
        // a kernel without it
      }
    }
    return path;
  }

  /** Tries again to remove groups of runs that are not among these. */
  sweep(runs: ReadonlySet<string>): void {
    for (const name of namesIn(this.parent)) if (!runs.has(name)) removeGroup(this.pathOf(name));
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
    const path = this.make(trial, 2 ** 30);
    const isSwapCounted = existsSync(join(path, this.files.swap));
    removeGroup(path);
    if (!isSwapCounted && hasSwap()) throw new Error('swap is not counted');
  }

  private pathOf(run: string): string {
    return join(this.parent, run);
  }
}

/**
 * Whose memory was not enough, so that the kernel has ended a process of a run: its `own`, or that of others, such as the `machine`.
 * Undefined when the kernel has ended none, null without the group. `path` is that of the group, wherever the worker is now.
 */
export function shortMemory(path: string): 'own' | 'machine' | undefined | null {
  const version = existsSync(join(path, FILES[2].limit)) ? 2 : 1;
  const { events, isReached } = FILES[version];
  const lines = readLines(join(path, events));
  if (lines.length === 0) return null;
  if (!lines.some((line) => /^oom_kill [1-9]/.test(line))) return undefined;
  return isReached(path) ? 'own' : 'machine';
}

/** Removes a group of which no process is left; not there is fine. */
export function removeGroup(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // there are processes in it, or it is gone
  }
}

/**
 * Where a worker may make its group, by the kernel's own lines; undefined where memory is in no group, and where the place beside the
 * worker's own is systemd's: jobs there would be no part of its unit.
 */
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
  if (below === '/' || below === '') return { version: 2, directory: mount.path };
  const beside = dirname(directory);
  return basename(beside).endsWith('.slice') ? undefined : { version: 2, directory: beside };
}

function hasSwap(): boolean {
  return readLines('/proc/swaps')
    .slice(1)
    .some((line) => line !== '');
}

/** Groups below that one get memory of their own. Throws EBUSY when there are processes in it. */
function enableMemory(path: string): void {
  const file = join(path, 'cgroup.subtree_control');
  const enabled = readFileSync(file, 'utf8').trim().split(' ');
  if (!enabled.includes('memory')) writeFileSync(file, '+memory');
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
