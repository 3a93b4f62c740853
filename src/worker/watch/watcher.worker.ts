import { basename, dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { measureDisk, measureOwned, type DiskUse } from './disk-use.js';
import { measureUnnamed, sharedBytesOf } from './unnamed-files.js';
import { allProcesses, argumentsOf, type ProcessEntry } from './process-table.js';
import { endMembers, enclosedRun, membersOf, orphansOf, signal, type Seen } from './run-members.js';
import type { RunUse, WatchAnswers, WatchedRun, WatchQuestion, WatchReply } from './watcher.js';

/** A directory is measured again after so many times as long as the last measuring took, and not sooner than that. */
const REST = 10;
const SHORTEST_REST_MS = 1_500;
/** However long a measurement took: a job that fills the disk meanwhile is seen soon enough. */
const LONGEST_REST_MS = 20_000;

type EndQuestion = Extract<WatchQuestion, { kind: 'end' }>;

/** What is known of a run by the looks at it. */
class Known {
  readonly seen: Seen = new Map();
  disk: DiskUse | undefined;
  /** In memory, and in no process: /dev/shm, files without name. */
  memoryBytes = 0;
  hidden: readonly string[] = [];
  isHiding = false;
  isMeasuring = false;
  nextMs = 0;
}

/**
 * The thread that looks at jobs, so that nothing that a job makes large (processes, files, directories) costs the thread
 * that answers requests. It reads of each process one line that the kernel bounds.
 */
class Watcher {
  private readonly known = new Map<string, Known>();

  async answer(question: WatchQuestion): Promise<WatchAnswers[keyof WatchAnswers]> {
    switch (question.kind) {
      case 'look':
        return this.look(question.runs, question.maxEntries);
      case 'end':
        return this.end(question);
      case 'orphans':
        return this.killOrphanProcesses(question.directory, new Set(question.alive));
    }
  }

  private look(runs: readonly WatchedRun[], maxEntries: number): Record<string, RunUse> {
    const names = new Set(runs.map(({ name }) => name));
    for (const name of this.known.keys()) if (!names.has(name)) this.known.delete(name);
    const processes = allProcesses();
    const uses: Record<string, RunUse> = {};
    for (const run of runs) {
      const known = this.of(run.name);
      const own = membersOf(run, known.seen, processes);
      uses[run.name] = {
        processes: own.length,
        cpuSeconds: sum(own, (entry) => entry.cpuSeconds),
        rssBytes: sum(own, (entry) => entry.rssBytes) + unmappedBytes(known.memoryBytes, own),
        disk: known.disk,
        isHiding: known.isHiding,
      };
      const pids = own.map(({ pid }) => pid);
      void this.measure(run, known, { maxEntries, pids });
    }
    return uses;
  }

  private async measure(
    run: WatchedRun,
    known: Known,
    { maxEntries, pids }: { maxEntries: number; pids: readonly number[] },
  ): Promise<void> {
    const started = Date.now();
    if (known.isMeasuring || started < known.nextMs) return;
    known.isMeasuring = true;
    try {
      const disk = await restful(measureDisk(run.directories, run.files, maxEntries));
      const unnamed = await restful(measureUnnamed(pids, run.level === 'namespaces'));
      const owned =
        run.level === 'accounts' && run.uid !== undefined
          ? await restful(measureOwned(run.uid, maxEntries))
          : { diskBytes: 0, memoryBytes: 0, entries: 0 };
      disk.bytes += unnamed.diskBytes + owned.diskBytes;
      disk.entries += owned.entries;
      known.disk = disk;
      known.memoryBytes = unnamed.memoryBytes + owned.memoryBytes;
      known.isHiding = unnamed.hidden.some((one) => known.hidden.includes(one));
      known.hidden = unnamed.hidden;
    } finally {
      known.isMeasuring = false;
      const took = Date.now() - started;
      known.nextMs =
        Date.now() + Math.min(LONGEST_REST_MS, Math.max(SHORTEST_REST_MS, took * REST));
    }
  }

  private async end({ run, traces, timeoutMs }: EndQuestion): Promise<boolean> {
    const { seen } = this.of(run);
    if (traces.leader === undefined) addEnclosing(run, seen);
    return endMembers(traces, seen, timeoutMs);
  }

  /** Ends what encloses runs that are over: it names the directory of its run in its first arguments. */
  private killOrphanProcesses(directory: string, alive: ReadonlySet<string>): number {
    const orphans = orphansOf(directory, alive);
    for (const pid of orphans) signal(pid, 'SIGKILL');
    return orphans.length;
  }

  private of(run: string): Known {
    const known = this.known.get(run) ?? new Known();
    this.known.set(run, known);
    return known;
  }
}

/** What encloses a run whose files do not tell any more who leads it. */
function addEnclosing(run: string, seen: Seen): void {
  const [name = run] = basename(run).split('.gone', 1);
  for (const { pid, startTicks } of allProcesses()) {
    if (enclosedRun(argumentsOf(pid), dirname(run)) === name) seen.set(pid, startTicks);
  }
}

/** What is mapped is in the memory of processes already. */
function unmappedBytes(memoryBytes: number, own: readonly ProcessEntry[]): number {
  if (memoryBytes === 0) return 0;
  return Math.max(0, memoryBytes - sum(own, ({ pid }) => sharedBytesOf(pid)));
}

/** Goes on with a walk in turns with everything else. */
async function restful<T>(walk: Generator<undefined, T>): Promise<T> {
  for (let step = walk.next(); ; step = walk.next()) {
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function sum(entries: readonly ProcessEntry[], value: (entry: ProcessEntry) => number): number {
  return entries.reduce((total, entry) => total + value(entry), 0);
}

const watcher = new Watcher();
parentPort?.on('message', ({ id, question }: { id: number; question: WatchQuestion }) => {
  const tell = (reply: WatchReply): void => parentPort?.postMessage({ id, reply });
  watcher.answer(question).then(
    (answer) => tell({ answer }),
    (error: unknown) => tell({ fault: String(error) }),
  );
});
