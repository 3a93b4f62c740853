import { LIMIT_REASONS, limitsOf } from '#src/jobs/run/index.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { secondsOfBoot } from '../watch/process-table.js';
import type { RunUse, WatchedRun } from '../watch/watcher.js';

const YOUNG_SECONDS = 1;
const MIB = 2 ** 20;

/** Keeps the limits that the kernel does not keep for a whole job. */
export class RunWatchdog {
  constructor(private readonly context: LocalContext) {}

  /** Looks at all runs that have gone on for a while. */
  async watch(runs: readonly LocalRun[]): Promise<void> {
    const { config } = this.context.parts;
    const old = runs.filter((run) => !run.isOver && secondsOf(run) > YOUNG_SECONDS);
    if (old.length === 0) return;
    const uses = await this.context.watcher.ask({
      kind: 'look',
      runs: old.map((run) => this.watched(run)),
      maxEntries: config.jobFiles,
    });
    for (const run of old) this.judge(run, uses[run.directory.path], secondsOf(run));
  }

  private watched(run: LocalRun): WatchedRun {
    const { directory, plan } = run;
    return {
      name: directory.path,
      ...run.traces(),
      directories: [directory.work, directory.tmp],
      files: [...new Set(directory.outputs(plan).values())],
      level: this.context.place.isolation.level,
    };
  }

  private judge(run: LocalRun, use: RunUse | undefined, wallSeconds: number): void {
    if (use === undefined || run.isOver) return;
    run.maxRssBytes = Math.max(run.maxRssBytes, use.rssBytes);
    run.maxDiskBytes = Math.max(run.maxDiskBytes, use.disk?.bytes ?? 0);
    run.cpuSeconds = Math.max(run.cpuSeconds, use.cpuSeconds);
    const reason = this.overLimit(run, use, wallSeconds);
    if (reason === undefined || run.limitReason !== undefined) return;
    run.limitReason = reason;
    run.directory.noteLimit(reason);
    // Not waited for: the end of one run must not keep the next look at the others.
    void this.context.cleaner.endProcesses(run).catch((error: unknown) => {
      this.context.parts.logger.warn(
        { err: error, jid: run.key },
        'a job over its limit does not end',
      );
    });
  }

  private overLimit(run: LocalRun, use: RunUse, wall: number): string | undefined {
    const { config } = this.context.parts;
    // Processes of the enclosure are not the job's: the supervisor, and what makes the namespaces.
    const enclosing = this.context.place.isolation.level === 'namespaces' ? 3 : 1;
    const { wallSeconds } = limitsOf(run.order, config);
    if (use.cpuSeconds > run.order.cpuTime) {
      return `${LIMIT_REASONS.cpu}|Used more than ${run.order.cpuTime} s of CPU`;
    }
    if (wall > wallSeconds) return `${LIMIT_REASONS.wall}|Ran longer than ${wallSeconds} s`;
    if (use.processes > config.jobProcesses + enclosing) {
      return `${LIMIT_REASONS.processes}|Had more than ${config.jobProcesses} processes`;
    }
    const short = this.context.memoryReason(run, use.rssBytes);
    if (short !== undefined) return short;
    if (use.isHiding) {
      return `${LIMIT_REASONS.memory}|Has a process whose open files the service cannot see`;
    }
    return this.overDisk(run, use);
  }

  /** Files of the catalogue that were brought to it count for nothing. */
  private overDisk({ inputs, plan }: LocalRun, { disk }: RunUse): string | undefined {
    const { jobDiskBytes, jobFiles } = this.context.parts.config;
    if (disk === undefined) return undefined;
    const broughtBytes = inputs.fetched.reduce((sum, { size }) => sum + Number(size), 0);
    const brought = plan.fetched.reduce((sum, name) => sum + name.split('/').length, 0);
    if (disk.bytes > jobDiskBytes + broughtBytes) {
      return `${LIMIT_REASONS.disk}|Used more than ${Math.floor(jobDiskBytes / MIB)} MiB of disk`;
    }
    if (disk.entries > jobFiles + brought)
      return `${LIMIT_REASONS.files}|Had more than ${jobFiles} files`;
    if (disk.closed !== undefined) {
      return `${LIMIT_REASONS.disk}|Has a directory that the service cannot look into`;
    }
    return undefined;
  }
}

/** How long the program of a run has gone on, also while the machine slept or its clock was set; 0 before it began. */
function secondsOf({ startedSeconds }: LocalRun): number {
  return startedSeconds === undefined ? 0 : secondsOfBoot() - startedSeconds;
}
