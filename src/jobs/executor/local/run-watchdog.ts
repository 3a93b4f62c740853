import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import type { RunEnding } from './run-ending.js';
import { allProcesses } from './process-table.js';
import { membersOf, signal } from './run-processes.js';
import { CONDEMNED } from './run-verdict.js';

const YOUNG_MS = 1_000;

/** Keeps the limits that the kernel does not keep for a whole job, and ends processes that belong to no run. */
export class RunWatchdog {
  constructor(
    private readonly context: LocalContext,
    private readonly ending: RunEnding,
  ) {}

  /** Looks at all runs that have gone on for a while. */
  async watch(runs: readonly LocalRun[]): Promise<void> {
    const now = this.context.parts.clock.now();
    const old = runs.filter(
      (run) => run.startedMs > 0 && !run.isOver && now - run.startedMs > YOUNG_MS,
    );
    if (old.length === 0) return;
    const processes = allProcesses();
    for (const run of old) {
      const own = membersOf(this.context.tracesOf(run), processes);
      const rssBytes = sum(own.map((entry) => entry.rssBytes));
      run.maxRssBytes = Math.max(run.maxRssBytes, rssBytes);
      const reason = this.overLimit(run, {
        cpuSeconds: sum(own.map((entry) => entry.cpuSeconds)),
        wallSeconds: (now - run.startedMs) / 1000,
        rssBytes,
        processes: own.length,
      });
      if (reason === undefined || run.isCondemned) continue;
      run.isCondemned = true;
      run.directory.condemn(reason);
      await this.ending.endProcesses(run);
    }
  }

  /** Ends processes that slipped away from runs which are over; `isKnown` tells by the run's name. */
  endStrays(isKnown: (name: string) => boolean): void {
    const prefix = `${this.context.id}/`;
    for (const entry of allProcesses()) {
      const { mark } = entry;
      const isStray = mark?.startsWith(prefix) && !isKnown(mark.slice(prefix.length));
      if (isStray) signal(entry.pid, 'SIGKILL');
    }
  }

  private overLimit(
    run: LocalRun,
    use: { cpuSeconds: number; wallSeconds: number; rssBytes: number; processes: number },
  ): string | undefined {
    const { jobWallTime, jobMemoryMb, jobProcesses } = this.context.parts.config;
    if (use.cpuSeconds > run.order.cpuTime) {
      return `${CONDEMNED.cpu}|Used more than ${run.order.cpuTime} s of CPU`;
    }
    if (use.wallSeconds > jobWallTime) return `${CONDEMNED.wall}|Ran longer than ${jobWallTime} s`;
    if (use.processes > jobProcesses) {
      return `${CONDEMNED.processes}|Had more than ${jobProcesses} processes`;
    }
    if (use.rssBytes > jobMemoryMb * 2 ** 20) {
      return `${CONDEMNED.memory}|Used more than ${jobMemoryMb} MiB`;
    }
    return undefined;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
