import { chmodSync } from 'node:fs';
import { hostname } from 'node:os';
import { loopTurn, MachineFault } from '#src/kernel/index.js';
import {
  type ExitRecord,
  judge,
  limitsOf,
  type OutputPlaces,
  processorsOf,
  type RunEnd,
  type RunPlace,
  type RunUsage,
  type Verdict,
} from '#src/jobs/run/index.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import type { RunCleaner } from './run-cleaner.js';

const SETUP_FAILED = 1;
const MIB = 2 ** 20;

/** What the life of runs has to know of this machine. */
export class LocalRunPlace implements RunPlace<LocalRun> {
  constructor(
    private readonly context: LocalContext,
    private readonly cleaner: RunCleaner,
  ) {}

  outputOf(run: LocalRun): OutputPlaces {
    const { directory, plan, uid } = run;
    const files = directory.outputs(plan);
    if (uid === undefined) for (const path of files.values()) makeReadable(path);
    const seenAs = this.context.place.isolation.placesOf(directory.path).work;
    return { directory: directory.work, seenAs, files, uid };
  }

  async endProcesses(run: LocalRun): Promise<void> {
    await this.cleaner.endProcesses(run);
  }

  async remove(run: LocalRun): Promise<void> {
    await loopTurn.room(); // hundreds may end at once, and each removes its directories synchronously
    this.cleaner.remove(run);
  }

  /**
   * How a run ended whose supervisor is gone. Whatever may live of it is ended first: a job must not have ended while
   * its program goes on. Throws MachineFault for one whose sandbox could not be made, so that its program has not run.
   */
  async endOf(run: LocalRun): Promise<RunEnd> {
    const isEndedFromOutside = run.isStopped || run.limitReason !== undefined || run.isAttached;
    if (isEndedFromOutside || !this.cleaner.isEndCertain(run)) {
      await this.cleaner.endProcesses(run);
    }
    await loopTurn.room();
    const exit = run.directory.exit();
    this.requireEnclosed(run, exit);
    if (reasonOf(run) === undefined && this.context.isShortOfMemory(run) === true) {
      run.limitReason = this.context.memoryReason(run);
    }
    const verdict = judgeRun(run, exit);
    const endedAt = exit?.endedAt ?? this.context.now();
    const usage = this.usageOf(run, exit, endedAt);
    return { verdict, endedAt, usage, parameters: this.parametersOf(run, exit) };
  }

  private requireEnclosed(run: LocalRun, exit: ExitRecord | undefined): void {
    if (exit?.code !== SETUP_FAILED || reasonOf(run) !== undefined) return;
    if (run.directory.hasGroupFault())
      throw new MachineFault('a job could not enter its control group');
    if (!this.context.place.isolation.hasDescriptors) return; // nothing is told of it
    const said = run.directory.enclosureFault();
    if (said === undefined) return;
    this.context.parts.logger.error({ jid: run.key, said }, 'a job cannot be enclosed');
    throw new MachineFault('a job could not be isolated');
  }

  private usageOf(run: LocalRun, exit: ExitRecord | undefined, endedAt: Date): RunUsage {
    const cpuSeconds = cpuOf(run, exit);
    return {
      source: 'service',
      wallSeconds: Math.max(0, endedAt.getTime() - run.startedMs) / 1000,
      cpuSeconds: exit || cpuSeconds > 0 ? cpuSeconds : undefined,
      maxRssBytes: run.maxRssBytes,
      processors: processorsOf(run.order),
      memoryMb: limitsOf(run.order, this.context.parts.config).memoryMb,
    };
  }

  private parametersOf(
    run: LocalRun,
    exit: ExitRecord | undefined,
  ): Record<string, string | number> {
    const { isolation } = this.context.place;
    return {
      HostName: hostname(),
      Isolation: isolation.level,
      ...(exit ? { ExitCode: exit.code } : {}),
      ...(run.maxDiskBytes > 0 ? { 'DiskSpace(MB)': Math.ceil(run.maxDiskBytes / MIB) } : {}),
    };
  }
}

function judgeRun(run: LocalRun, exit: ExitRecord | undefined): Verdict {
  const used = exit && { ...exit, cpuSeconds: cpuOf(run, exit) };
  return judge(used, reasonOf(run), run.order.cpuTime);
}

/** Why the service has ended it; on a full disk only this process knows. */
function reasonOf(run: LocalRun): string | undefined {
  return run.limitReason ?? run.directory.verdict();
}

/** The supervisor is told at the end, of all whom somebody waited for; the watch sees in between whatever lives. */
function cpuOf(run: LocalRun, exit: ExitRecord | undefined): number {
  return Math.max(exit?.cpuSeconds ?? 0, run.cpuSeconds);
}

/** A program of our own account can have closed its output to itself, and so to us. The name cannot be exchanged. */
function makeReadable(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // It was never opened.
  }
}
