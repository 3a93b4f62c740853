import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { type Clock, CLOCK, Problem } from '#src/kernel/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import type { HeldJob } from '../../run/executor.js';
import { processorsOf } from '../../run/run-plan.js';
import type { RunResult, RunService } from '../../run/run-service.js';
import type { RunUsage } from '../../run/run-usage.js';
import { MINOR } from '../../state/job-state.js';
import { backendOf, isOwn } from '../worker.js';
import type { WorkerEntity } from '../worker.entity.js';
import type { EndedReport, ReportAnswer, RunReport } from './protocol.js';
import { WorkerMetrics } from './worker-metrics.js';
import { WorkerOutputs } from './worker-outputs.js';
import { SOON_SECONDS } from '../worker-pauses.js';
import { WorkerRunsRepository } from './worker-runs.repository.js';
import { WorkerRuns } from './worker-runs.js';

/** Reports whose archives are packed at once. */
const AT_ONCE = 8;
/** Of so many attempts at most a worker may say that its machine was to blame. */
const MOST_OF_MACHINE = 100;
/** Bytes that a program may have used at most, whatever a worker says. */
const MOST_RAM_BYTES = 2 ** 50;
const MIB = 2 ** 20;
const MOST_OVERUSE = 1_024;
const MINORS: ReadonlySet<string> = new Set(Object.values(MINOR));

/**
 * What workers report of their runs. Each counts only while the job is held by the worker in this attempt; one that comes twice, or
 * does not apply, is answered `forget`. A report that cannot be written now has no answer: the worker repeats it.
 */
@Injectable()
export class WorkerReports {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly runs: WorkerRuns,
    private readonly repository: WorkerRunsRepository,
    private readonly outputs: WorkerOutputs,
    private readonly metrics: WorkerMetrics,
  ) {}

  /** Writes the reports; answers those that are written, or count no more. */
  async write(worker: WorkerEntity, reports: readonly RunReport[]): Promise<ReportAnswer[]> {
    const service = this.runs.serviceOf(worker);
    const last = new Map(reports.map((report) => [report.run, report]));
    const held = await this.runs.heldOf(worker, [...last.keys()]);
    const answers = await pLimit(AT_ONCE).map(
      last.values(),
      async (report): Promise<ReportAnswer[]> => {
        const job = held.get(report.run);
        if (!job) return [{ run: report.run, forget: true }];
        try {
          const answer = await this.writeOne(worker, { service, job, report });
          if (worker.site !== null) {
            this.metrics.reported(worker.site, report.kind);
            await this.noteRun(worker, job, report);
          }
          return [answer];
        } catch (error) {
          this.logger.warn({ err: error, run: report.run }, 'a report of a worker is not written');
          return [];
        }
      },
    );
    return answers.flat();
  }

  private async writeOne(
    worker: WorkerEntity,
    { service, job, report }: { service: RunService; job: HeldJob; report: RunReport },
  ): Promise<ReportAnswer> {
    const { run } = report;
    switch (report.kind) {
      case 'starting':
        return (await this.mayStart(worker, service, job))
          ? { run, go: true }
          : { run, forget: true };
      case 'ended':
        if (job.status === 'Matched')
          await service.returned(job, {}); // it had no permission to start
        else if (await service.ended(job, await this.resultOf(worker, job, report))) {
          return { run, store: true };
        }
        break;
      case 'returned': {
        const { reason, isOfMachine = false } = report;
        const isBelieved = isOfMachine && job.attempt <= MOST_OF_MACHINE;
        await service.returned(job, { reason, isOfMachine: isBelieved });
        break;
      }
      case 'refused':
        await service.refused(job, { minor: knownMinor(report.minor), app: report.app });
        break;
      case 'lost':
        if (job.status === 'Matched') await service.returned(job, {});
        else await service.missing(job, report.app);
    }
    return { run, forget: true };
  }

  /** A machine where every run goes wrong at once would go through the whole queue. */
  private async noteRun(worker: WorkerEntity, job: HeldJob, report: RunReport): Promise<void> {
    const { id, site, badRuns } = worker;
    const owner = badRunOf(job, report);
    if (owner === undefined) {
      if (report.kind === 'ended' && badRuns.length > 0) await this.repository.noteGoodRun(worker);
    } else if (await this.repository.noteBadRun(worker, owner, new Date(this.clock.now()))) {
      this.logger.warn({ worker: id, site }, 'the last runs of a worker went wrong at once');
    }
  }

  /** Also when it was told so before: the worker's own record of the start decides whether it does. */
  private async mayStart(
    worker: WorkerEntity,
    service: RunService,
    job: HeldJob,
  ): Promise<boolean> {
    const startedAt = new Date(this.clock.now());
    if (await service.starting(job, { startedAt, from: ['Matched'] })) return true;
    const now = await this.runs.heldRun(worker, job);
    if (now?.status === 'Stalled') await service.resumed(job);
    return now !== undefined && ['Running', 'Stalled'].includes(now.status);
  }

  private async resultOf(
    worker: WorkerEntity,
    job: HeldJob,
    report: EndedReport,
  ): Promise<RunResult> {
    const { failure, outputFault } = report;
    let output: string | undefined;
    let fault = outputFault;
    try {
      output = await this.outputs.ofReport(job, report);
      if (report.output && output === undefined) fault ??= 'The output was not received';
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      fault = `The output is refused: ${error.detail}`;
    }
    const now = this.clock.now();
    const startedMs = job.startedAt?.getTime() ?? now;
    const wallSeconds = Math.min(report.wallSeconds ?? 0, Math.max(0, now - startedMs) / 1000);
    return {
      ...(failure && {
        failure: { minor: knownMinor(failure.minor), app: failure.app ?? 'Unknown' },
      }),
      endedAt: new Date(startedMs + wallSeconds * 1000),
      usage:
        report.wallSeconds === undefined
          ? undefined
          : usageOf(job, report, { wallSeconds, source: isOwn(worker) ? 'service' : 'worker' }),
      parameters: parametersOf(report, backendOf(worker)),
      ...{ output, outputFault: fault, storing: storingOf(report) },
    };
  }
}

function usageOf(
  job: HeldJob,
  report: EndedReport,
  { wallSeconds, source }: Pick<RunUsage, 'wallSeconds' | 'source'>,
): RunUsage {
  const { cpuSeconds, maxRssBytes, memoryMb } = report;
  const processors = processorsOf(job);
  const most = (value: number | undefined, limit: number): number | undefined =>
    value === undefined ? undefined : Math.min(value, limit);
  return {
    ...{ source, wallSeconds, processors },
    // A program can have used more processors than it asked for, but no machine has so many.
    cpuSeconds: most(cpuSeconds, wallSeconds * processors * MOST_OVERUSE),
    maxRssBytes: most(maxRssBytes, MOST_RAM_BYTES),
    memoryMb: most(memoryMb, MOST_RAM_BYTES / MIB),
  };
}

/** Whose run went wrong at once: its owner, empty where no program can be to blame; undefined for a run that went as a run does. */
function badRunOf({ status, owner }: HeldJob, report: RunReport): string | undefined {
  if (report.kind === 'lost') return '';
  if (report.kind === 'returned') return report.isOfMachine ? '' : undefined;
  if (report.kind !== 'ended' || status !== 'Running' || !report.failure) return undefined;
  return (report.wallSeconds ?? 0) < SOON_SECONDS ? owner : undefined;
}

function storingOf({ storing, storingFault: fault }: EndedReport): RunResult['storing'] {
  return storing === 'is over' && fault !== undefined ? { fault } : storing;
}

/** A worker says why a program failed in the words of the service. */
function knownMinor(minor: string): string {
  return MINORS.has(minor) ? minor : MINOR.finishedWithErrors;
}

function parametersOf(report: EndedReport, backend: string): Record<string, string | number> {
  const parameters = {
    ...{ HostName: report.host, BatchSystem: backend, Isolation: report.isolation },
    ...{ ExitCode: report.exitCode, 'DiskSpace(MB)': report.diskMB },
    ...{ MissingOutput: report.missing, OutputLeftOut: report.leftOut },
    OutputNotRequested: report.notRequested,
  };
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}
