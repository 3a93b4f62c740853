import { MINOR } from '../../state/job-state.js';
import { RunFault } from '../local/run-plan.js';
import { collectOutput } from '../local/output-collector.js';
import { judge, type Verdict } from '../local/run-verdict.js';
import type { ExitRecord } from './run-record.js';
import type { OpenSlurmParts } from './slurm-parts.js';
import type { SlurmRun } from './slurm-run.js';

const MAX_OUTPUT_FILES = 10_000;
const MAX_GIVEN_BACK = 20;
const SOURCE = 'slurm';

/** How a run ended, from its own record or, without one, from what Slurm says. */
export interface RunEnd {
  record: ExitRecord | undefined;
  verdict: Verdict;
}

/** What the wrapper's record means for the job. Undefined when it was ended by somebody whom only Slurm can name. */
export function verdictOfRecord(record: ExitRecord, cpuTime: number): Verdict | undefined {
  const { status, reason, cpuSeconds, endedAt } = record;
  switch (reason) {
    case '':
      return judge({ code: status, cpuSeconds, endedAt }, undefined, cpuTime);
    case 'wall':
      return { isGood: false, minor: MINOR.wallClockLimit, app: 'Ran longer than it may' };
    case 'not-found':
      return { isGood: false, minor: MINOR.applicationNotFound, app: 'The program was not found' };
    case 'no-directory':
      return { isGood: false, minor: MINOR.inputSandboxFailed, app: 'The node lacks its files' };
    case 'cancel':
      return { isGood: false, minor: MINOR.threadFailed, app: 'Ended by the service' };
    case 'term':
      return undefined;
  }
}

/** Moves jobs on: begun, ended, given back, refused. A job that is not ours any more is left as it is. */
export class SlurmFinisher {
  constructor(private readonly parts: OpenSlurmParts) {}

  /** The wrapper has begun. */
  async begin(run: SlurmRun, startedAt: Date): Promise<void> {
    const { reference } = run;
    run.hasBegun = true;
    await this.parts.reports.report({
      jid: run.order.jid,
      steps: [{ to: 'Running', minor: MINOR.application }],
      from: ['Matched', 'Stalled'],
      source: SOURCE,
      held: this.hold(run),
      set: { startedAt, ...(reference === undefined ? {} : { reference }) },
      parameters: {
        BatchSystem: SOURCE,
        ...(reference === undefined ? {} : { Pilot_Reference: reference }),
      },
    });
  }

  /** Brings the output home and moves the job to its end; then nothing is left to look after. */
  async finish(run: SlurmRun, end: RunEnd): Promise<void> {
    const { verdict, record } = end;
    const output = await this.keepOutput(run);
    const isGood = verdict.isGood && output.fault === undefined;
    const minor = verdict.isGood ? MINOR.uploadingOutput : verdict.minor;
    const app = verdict.isGood ? output.fault : verdict.app;
    const last = isGood
      ? { to: 'Done' as const, minor: MINOR.complete }
      : { to: 'Failed' as const, minor };
    const moved = await this.parts.reports.report({
      jid: run.order.jid,
      steps: [
        { to: 'Completing', minor: MINOR.resolvingOutput },
        ...(isGood ? [{ to: 'Completed', minor: MINOR.outputUploaded } as const] : []),
        { ...last, ...(app === undefined ? {} : { app }) },
      ],
      from: ['Running'],
      source: SOURCE,
      held: this.hold(run),
      set: {
        endedAt: record?.endedAt ?? new Date(this.parts.clock.now()),
        executor: null,
        accounted: true,
        ...(output.hash === undefined ? {} : { outputSandbox: output.hash }),
      },
      parameters: this.parametersOf(run, record, output),
    });
    if (moved) return;
    // Stalled meanwhile, or killed, or taken back.
    if (await this.revive(run)) await this.finish(run, end);
    else await this.release(run, output.hash);
  }

  private async revive(run: SlurmRun): Promise<boolean> {
    return this.parts.reports.report({
      jid: run.order.jid,
      steps: [{ to: 'Running', minor: MINOR.application }],
      from: ['Stalled'],
      source: SOURCE,
      held: this.hold(run),
    });
  }

  /** A run that nobody waits for is over: what it left may still be had of a killed job. */
  async finishUnwanted(run: SlurmRun): Promise<void> {
    const output = await this.keepOutput(run);
    await this.release(run, output.hash);
  }

  /** Lets go of a run without moving its job. */
  async release(run: SlurmRun, output?: string): Promise<void> {
    const { jid, attempt } = run.order;
    const held = { jid, attempt, executor: this.parts.executorId };
    await this.parts.repository.release(held, output ?? null);
  }

  /** Certainly not started: back to the queue, without counting as a reschedule. */
  async giveBack(run: SlurmRun, reason: string): Promise<void> {
    const { order } = run;
    if (order.attempt > MAX_GIVEN_BACK) {
      const fault = new RunFault(MINOR.submitting, `Given back too often: ${reason}`);
      await this.refuse(run, fault);
      return;
    }
    await this.parts.reports.report({
      jid: order.jid,
      steps: [
        { to: 'Rescheduled', minor: MINOR.rescheduled, app: reason },
        { to: 'Waiting', minor: MINOR.waiting },
      ],
      from: ['Matched', 'Running'],
      source: SOURCE,
      held: this.hold(run),
      set: { executor: null },
    });
    await this.release(run);
  }

  /** It was not started and never will be. */
  async refuse(run: SlurmRun, fault: RunFault): Promise<void> {
    await this.parts.reports.report({
      jid: run.order.jid,
      steps: [{ to: 'Failed', minor: fault.minor, app: fault.app }],
      from: ['Matched', 'Running'],
      source: SOURCE,
      held: this.hold(run),
      set: { executor: null, endedAt: new Date(this.parts.clock.now()), accounted: true },
      parameters: { BatchSystem: SOURCE },
    });
    await this.release(run);
  }

  private async keepOutput(run: SlurmRun): Promise<KeptOutput> {
    const { config, sandboxes, directory, account } = this.parts;
    const found = collectOutput(`${directory.pathOf(run.key)}/work`, run.plan.outputs, {
      maxBytes: config.maxSandboxBytes,
      maxFiles: MAX_OUTPUT_FILES,
      uid: account.isOther ? account.uid : undefined,
    });
    try {
      const { missing, leftOut } = found;
      const hash = found.files.length > 0 ? await sandboxes.keep(found.files) : undefined;
      const fault = `The output is larger than ${config.maxSandboxBytes} bytes`;
      return {
        missing,
        leftOut,
        ...(hash === undefined ? {} : { hash }),
        ...(leftOut.length > 0 ? { fault } : {}),
      };
    } finally {
      found.close();
    }
  }

  private parametersOf(
    run: SlurmRun,
    record: ExitRecord | undefined,
    output: KeptOutput,
  ): Record<string, string | number> {
    const { reference } = run;
    return {
      BatchSystem: SOURCE,
      LocalAccount: this.parts.account.name,
      ...(reference === undefined ? {} : { Pilot_Reference: reference }),
      ...(record === undefined
        ? {}
        : {
            HostName: record.host,
            ExitCode: record.status,
            'WallClockTime(s)': (record.endedAt.getTime() - record.begunAt.getTime()) / 1000,
            'TotalCPUTime(s)': record.cpuSeconds,
          }),
      ...(output.missing.length > 0 ? { MissingOutput: output.missing.join(', ') } : {}),
      ...(output.leftOut.length > 0 ? { OutputLeftOut: output.leftOut.join(', ') } : {}),
    };
  }

  private hold(run: SlurmRun): { executor: string; attempt: number } {
    return { executor: this.parts.executorId, attempt: run.order.attempt };
  }
}

interface KeptOutput {
  hash?: string;
  missing: string[];
  leftOut: string[];
  fault?: string;
}
