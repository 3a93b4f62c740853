import { hostname } from 'node:os';
import { MINOR } from '../../state/job-state.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { collectOutput } from './output-collector.js';
import type { ExitRecord } from './run-directory.js';
import { isAway } from './run-launch.js';
import { RunFault } from './run-plan.js';
import { endRun, hasSurvivors } from './run-processes.js';
import { judge } from './run-verdict.js';

const MAX_OUTPUT_FILES = 10_000;
const MAX_GIVEN_BACK = 20;
const SHOWN_NAMES = 100;

interface Output {
  hash?: string;
  missing: string[];
  leftOut: string[];
  /** Why the output is not whole. */
  fault?: string;
}

/** All the ways in which a run comes to its end. Each lets go of the job and removes the run's directory. */
export class RunEnding {
  constructor(private readonly context: LocalContext) {}

  /** The payload has ended: brings its output home and moves the job on. */
  async finish(run: LocalRun): Promise<void> {
    const { order, directory } = run;
    let exit = directory.exit();
    // The wrapper ends its own group as its last act. A run that was ended from outside, whose wrapper was killed
    // before it, or that has left the group, may go on; and a job must not have ended while its program does.
    const isEndedFromOutside = run.isStopped || run.isCondemned || run.isAttached;
    if (!exit || isEndedFromOutside || hasSurvivors(this.context.tracesOf(run))) {
      await this.endProcesses(run);
      exit = directory.exit();
    }
    const verdict = judge(exit, directory.verdict(), order.cpuTime);
    const output = await this.keepOutput(run);
    const endedAt = exit?.endedAt ?? this.context.now();
    const isGood = verdict.isGood && output.fault === undefined;
    const minor = verdict.isGood ? MINOR.uploadingOutput : verdict.minor;
    const app = verdict.isGood ? output.fault : verdict.app;
    const moved = await this.context.report(run, {
      steps: [
        { to: 'Completing', minor: MINOR.resolvingOutput },
        ...(isGood ? [{ to: 'Completed', minor: MINOR.outputUploaded } as const] : []),
        {
          to: isGood ? 'Done' : 'Failed',
          minor: isGood ? MINOR.complete : minor,
          ...(app === undefined ? {} : { app }),
        },
      ],
      from: ['Running'],
      set: {
        endedAt,
        executor: null,
        accounted: true,
        ...(output.hash === undefined ? {} : { outputSandbox: output.hash }),
      },
      parameters: this.parametersOf(run, { exit, endedAt, output }),
    });
    if (moved) run.directory.remove();
    else await this.finishOther(run, output.hash);
  }

  /** The run of a job that nobody wants any more: lets go of it. */
  async release(run: LocalRun, output: string | null = null): Promise<void> {
    const { jid, attempt } = run.order;
    const executor = this.context.id;
    await this.context.parts.repository.release({ jid, attempt, executor }, output);
    run.directory.remove();
  }

  /** Certainly not started: back to the queue, without counting as a reschedule, also when it was stalled. */
  async giveBack(run: LocalRun): Promise<void> {
    await this.revive(run);
    const isHopeless = run.order.attempt > MAX_GIVEN_BACK;
    await this.context.report(run, {
      steps: isHopeless
        ? [{ to: 'Failed', minor: MINOR.pilotGone, app: 'It could not be started many times' }]
        : [
            { to: 'Rescheduled', minor: MINOR.rescheduled },
            { to: 'Waiting', minor: MINOR.waiting },
          ],
      from: ['Matched', 'Running'],
      source: 'Reaper',
      set: { executor: null },
    });
    await this.release(run);
  }

  /** It cannot be started: the job fails. */
  async refuse(run: LocalRun, error: unknown): Promise<void> {
    const fault = error instanceof RunFault ? error : undefined;
    if (!fault) {
      this.context.parts.logger.error({ err: error, jid: run.key }, 'a job cannot be started');
    }
    const minor = fault?.minor ?? MINOR.initialization;
    const app = fault?.app ?? 'The job could not be started';
    await this.context.report(run, {
      steps: [{ to: 'Failed', minor, app }],
      from: ['Matched', 'Running'],
      set: { executor: null, endedAt: this.context.now(), accounted: true },
      parameters: { HostName: hostname(), BatchSystem: this.context.backend },
    });
    await this.release(run);
  }

  /** The files that would tell are gone, and nobody can say whether it ran: never again, then. */
  async lose(run: LocalRun): Promise<void> {
    const app = 'Nothing is left of the run on its machine';
    await this.endProcesses(run);
    const isHeld = await this.revive(run);
    await this.context.report(run, {
      steps: [{ to: 'Failed', minor: MINOR.pilotGone, app }],
      from: isHeld ? ['Running'] : ['Running', 'Completing'],
      source: 'Reaper',
      set: { executor: null, endedAt: this.context.now() },
    });
    await this.release(run);
  }

  /** A stalled job shows a sign of life; true when it was stalled. */
  async revive(run: LocalRun): Promise<boolean> {
    return this.context.report(run, {
      steps: [{ to: 'Running', minor: MINOR.application }],
      from: ['Stalled'],
    });
  }

  /** Ends every process of the run. */
  async endProcesses(run: LocalRun): Promise<void> {
    const isGone = await endRun(this.context.tracesOf(run));
    if (!isGone) {
      this.context.parts.logger.warn({ jid: run.key }, 'processes of a job do not end');
    }
  }

  /**
   * The job was not Running any more: stalled meanwhile, or killed, or taken back. One that was stalled and has been
   * revived in between is still ours: its directory must stay until its end is written.
   */
  private async finishOther(run: LocalRun, output: string | undefined): Promise<void> {
    const { jid, attempt } = run.order;
    const held = { jid, attempt, executor: this.context.id };
    const isOurs =
      (await this.revive(run)) || (await this.context.parts.repository.isUnderWay(held));
    if (isOurs) await this.finish(run);
    else await this.release(run, output ?? null);
  }

  private async keepOutput(run: LocalRun): Promise<Output> {
    const { config, sandboxes, logger } = this.context.parts;
    const found = collectOutput(run.directory.work, run.plan.outputs, {
      maxBytes: config.maxSandboxBytes,
      maxFiles: MAX_OUTPUT_FILES,
      uid: this.context.account.owner?.uid,
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
    } catch (error) {
      if (isOurs(error)) throw error;
      logger.warn({ err: error, jid: run.key }, 'the output of a job cannot be packed');
      return { missing: [], leftOut: [], fault: 'The output cannot be packed' };
    } finally {
      found.close();
    }
  }

  private parametersOf(
    run: LocalRun,
    end: { exit: ExitRecord | undefined; endedAt: Date; output: Output },
  ): Record<string, string | number> {
    const { exit, endedAt, output } = end;
    const { missing, leftOut } = output;
    return {
      HostName: hostname(),
      BatchSystem: this.context.backend,
      LocalAccount: this.context.account.name,
      'WallClockTime(s)': Math.max(0, endedAt.getTime() - run.startedMs) / 1000,
      ...(exit ? { ExitCode: exit.code, 'TotalCPUTime(s)': exit.cpuSeconds } : {}),
      ...(run.maxRssBytes > 0 ? { 'Memory(MB)': Math.ceil(run.maxRssBytes / 2 ** 20) } : {}),
      ...(missing.length > 0 ? { MissingOutput: shortList(missing) } : {}),
      ...(leftOut.length > 0 ? { OutputLeftOut: shortList(leftOut) } : {}),
    };
  }
}

/** A job may have made any number of names, of any length. */
function shortList(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).map((name) => name.slice(0, 255));
  const more = names.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** True for a fault of the machine, the database or the store, which passes; the output is not to blame. */
function isOurs(error: unknown): boolean {
  return isAway(error) || (error as NodeJS.ErrnoException).syscall !== undefined;
}
