import { readdirSync, readlinkSync, statfsSync, statSync, type Stats } from 'node:fs';
import { processEntry, statusOf } from './process-table.js';

/** What a run has in files that no directory shows. */
export interface UnnamedUse {
  /** In files that were removed and are open. */
  diskBytes: number;
  /** In memory: `/dev/shm` of its own, and files without name (memfd_create). */
  memoryBytes: number;
  /** Its processes whose open files nobody may see, as `pid start`. */
  hidden: string[];
}

/** Open files that are looked at between two rests. */
const STEP = 500;
const BLOCK_BYTES = 512;
const TMPFS = 0x01021994;
const REMOVED = ' (deleted)';

/**
 * Adds up what the processes hold open and no directory shows; rests (yields) again and again. Each costs as many looks as
 * it has open files, of which `GRID_JOB_OPEN_FILES` says how many there may be.
 */
export function* measureUnnamed(
  pids: readonly number[],
  hasOwnShm: boolean,
): Generator<undefined, UnnamedUse> {
  const use: UnnamedUse = { diskBytes: 0, memoryBytes: 0, hidden: [] };
  if (hasOwnShm) use.memoryBytes += ownShmBytes(pids);
  const counted = new Set<string>();
  let looks = 0;
  for (const pid of pids) {
    const files = openFilesOf(pid);
    if (files === undefined && isJobs(pid))
      use.hidden.push(`${pid} ${processEntry(pid)?.startTicks}`);
    for (const path of files ?? []) {
      looks += 1;
      if (looks % STEP === 0) yield undefined;
      const removed = removedFile(path);
      if (removed === undefined || (removed.isInShm && hasOwnShm)) continue;
      const key = `${removed.info.dev}:${removed.info.ino}`;
      if (counted.has(key)) continue;
      counted.add(key);
      use[removed.isMemory ? 'memoryBytes' : 'diskBytes'] += removed.info.blocks * BLOCK_BYTES;
    }
  }
  return use;
}

/** Bytes of memory that a process shares with others, or may share. */
export function sharedBytesOf(pid: number): number {
  return Number(/^RssShmem:\s+(\d+) kB/m.exec(statusOf(pid))?.[1] ?? 0) * 1024;
}

/** Paths of the open files; undefined when they may not be seen. */
function openFilesOf(pid: number): string[] | undefined {
  const directory = `/proc/${pid}/fd`;
  try {
    return readdirSync(directory).map((name) => `${directory}/${name}`);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? undefined : [];
  }
}

/** Within the pid namespace of a job, and not its first process, which is the sandbox's. */
function isJobs(pid: number): boolean {
  const ids = /^NSpid:\t(.*)$/m.exec(statusOf(pid))?.[1]?.split('\t') ?? [];
  return ids.length > 1 && ids.at(-1) !== '1' && processEntry(pid) !== undefined;
}

function removedFile(
  path: string,
): { info: Stats; isMemory: boolean; isInShm: boolean } | undefined {
  try {
    const name = readlinkSync(path, 'latin1');
    if (!name.endsWith(REMOVED)) return undefined;
    const info = statSync(path);
    if (!info.isFile() || info.nlink > 0) return undefined;
    const isInShm = name.startsWith('/dev/shm/');
    return { info, isInShm, isMemory: isInShm || name.startsWith('/memfd:') };
  } catch {
    return undefined; // closed meanwhile
  }
}

/** What is in the `/dev/shm` that the processes see, when it is not the machine's. */
function ownShmBytes(pids: readonly number[]): number {
  const machine = statSync('/');
  for (const pid of pids) {
    try {
      const root = statSync(`/proc/${pid}/root`);
      if (root.dev === machine.dev && root.ino === machine.ino) continue;
      const { type, blocks, bfree, bsize } = statfsSync(`/proc/${pid}/root/dev/shm`);
      if (type === TMPFS) return (blocks - bfree) * bsize;
    } catch {
      // gone, or its file systems are being made
    }
  }
  return 0;
}
