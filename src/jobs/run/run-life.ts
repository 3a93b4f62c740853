import { machineFaultOf, Problem, type Clock } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import type { Logger } from '#src/runtime/index.js';
import type { Move } from '../state/jobs.repository.js';
import type { SandboxService } from '../sandbox/sandbox.service.js';
import { MINOR } from '../state/job-state.js';
import type { HeldRuns, RunLeft, RunOrder } from './executor.js';
import { collectOutput, type Collected } from './output-collector.js';
import type { OutputPlaces } from './output-places.js';
import type { JobTokens } from './job-tokens.js';
import { RunFault, type RunPlan } from './run-plan.js';
import type { RunReports } from './run-reports.js';
import { usageParameters, type RunUsage } from './run-usage.js';
import type { Verdict } from './run-verdict.js';

const MAX_OUTPUT_FILES = 10_000;
const MAX_REQUEUES = 20;
const SHOWN_NAMES = 100;
const SHOWN_LENGTH = 255;
/** Begin of what the history says of a job that was given back because of the machine. */
const OF_MACHINE = 'Not started by a fault of the machine';

/** One attempt of a job in the hands of an executor. */
export interface Run {
  readonly order: RunOrder;
  readonly plan: RunPlan;
}

/** How a run ended. */
export interface RunEnd {
  verdict: Verdict;
  endedAt: Date;
  /** Undefined: nobody measured it. */
  usage: RunUsage | undefined;
  /** What is told of the run beside its output and what it used: host, exit code. */
  parameters: Parameters;
}

type Parameters = Record<string, string | number>;

/** What the life of runs needs of the service. */
export interface LifeParts {
  config: Config;
  logger: Logger;
  clock: Clock;
  reports: RunReports;
  repository: HeldRuns;
  sandboxes: SandboxService;
  tokens: Pick<JobTokens, 'give' | 'end'>;
}

/** What is different from place to place. */
export interface RunPlace<R extends Run> {
  /** The id under which its executor holds jobs. */
  executorId: string;
  /** Who moves the jobs, in their history; the batch system of their parameters. */
  source: string;
  /** Where the output of a run lies. */
  outputOf(run: R): OutputPlaces;
  /** Ends what may still live of a run of which nobody knows what became. */
  endProcesses(run: R): Promise<void>;
  /** Nothing is left to look after: removes what the run has left. */
  remove(run: R): Promise<void>;
}

interface Output {
  hash?: string;
  /** What is told of what was not brought back. */
  parameters: Parameters;
  /** Why the output is not whole. */
  fault?: string;
}

/**
 * The one life of a run, whatever its place: begun, finished, requeued, refused, failed as unknown, resumed, released. Each step
 * starts from a state in which the job is held by this executor in this attempt; a job that is not ours any more is
 * left as it is.
 */
export class RunLife<R extends Run> {
  constructor(
    private readonly parts: LifeParts,
    private readonly place: RunPlace<R>,
  ) {}

  /** Asks for the permission to start (local), or notes that the batch system has started it. */
  async begin(
    run: R,
    begin: { startedAt: Date; from: ('Matched' | 'Stalled')[]; reference?: string | undefined },
  ): Promise<boolean> {
    const { startedAt, from, reference } = begin;
    return this.report(run, {
      steps: [{ to: 'Running', minor: MINOR.application }],
      from,
      set: { startedAt, ...(reference === undefined ? {} : { reference }) },
      ...(reference === undefined
        ? {}
        : { parameters: { BatchSystem: this.place.source, Pilot_Reference: reference } }),
    });
  }

  /** The payload has ended and nothing of it lives: brings its output home and moves the job to its end. */
  async finish(run: R, end: RunEnd): Promise<void> {
    const { verdict } = end;
    await this.parts.tokens.end(run.order);
    const output = await this.keepOutput(run);
    const isGood = verdict.isGood && output.fault === undefined;
    const minor = verdict.isGood ? MINOR.uploadingOutput : verdict.minor;
    const app = verdict.isGood ? output.fault : verdict.app;
    const moved = await this.report(run, {
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
        endedAt: end.endedAt,
        executor: null,
        accounted: true,
        use: end.usage,
        ...(output.hash === undefined ? {} : { outputSandbox: output.hash }),
      },
      parameters: { ...end.parameters, ...this.told(end.usage), ...output.parameters },
    });
    if (moved) await this.place.remove(run);
    else await this.finishOther(run, end, output.hash);
  }

  /** A run that nobody waits for is over: what it left may still be had of a killed job. */
  async finishUnwanted(run: R, end: Omit<RunLeft, 'output'>): Promise<void> {
    const output = await this.keepOutput(run);
    await this.release(run, { ...end, output: output.hash });
  }

  /** Lets go of a run without moving its job. */
  async release(run: R, left: RunLeft = {}): Promise<void> {
    await this.parts.tokens.end(run.order);
    await this.parts.repository.release(this.held(run), left);
    await this.place.remove(run);
  }

  /** Certainly not started: back to the queue, without counting as a reschedule, also when it was stalled. */
  async requeue(run: R, reason?: string): Promise<void> {
    if (await this.isRefused(run, reason)) return;
    await this.requeueNow(run, reason);
  }

  /**
   * Claimed, and begun by nobody, as the database said a moment ago: back to the queue. When it was begun since then it is
   * left as it is, with its files; the next look at what is held tells what it is.
   */
  async requeueUnstarted(run: R): Promise<void> {
    if (await this.isRefused(run)) return;
    if (await this.report(run, { ...backToQueue(), from: ['Matched'] })) await this.release(run);
  }

  /**
   * It was not started and never will be: the job fails. For a fault of the machine it goes back to the queue instead, however
   * often that happens.
   */
  async refuse(run: R, error: unknown): Promise<void> {
    const reason = machineFaultOf(error);
    if (reason !== undefined) {
      await this.requeueNow(run, `${OF_MACHINE}: ${reason}`);
      return;
    }
    const fault = error instanceof RunFault ? error : undefined;
    if (!fault) {
      const jid = String(run.order.jid);
      this.parts.logger.error({ err: error, jid }, 'a job cannot be started');
    }
    await this.report(run, {
      steps: [
        {
          to: 'Failed',
          minor: fault?.minor ?? MINOR.initialization,
          app: fault?.app ?? 'The job could not be started',
        },
      ],
      from: ['Matched', 'Running'],
      set: { executor: null, endedAt: this.now(), accounted: true },
      parameters: { BatchSystem: this.place.source },
    });
    await this.release(run);
  }

  /** What would tell is gone, and nobody can say whether it ran: never again, then. */
  async failUnknown(run: R, app: string): Promise<void> {
    await this.place.endProcesses(run);
    const isHeld = await this.resume(run);
    await this.report(run, {
      steps: [{ to: 'Failed', minor: MINOR.pilotGone, app }],
      from: isHeld ? ['Running'] : ['Running', 'Completing'],
      source: 'Reaper',
      set: { executor: null, endedAt: this.now() },
    });
    await this.release(run);
  }

  /** A stalled job shows a sign of life; true when it was stalled. */
  async resume(run: R): Promise<boolean> {
    return this.report(run, {
      steps: [{ to: 'Running', minor: MINOR.application }],
      from: ['Stalled'],
    });
  }

  private async requeueNow(run: R, reason?: string): Promise<void> {
    await this.resume(run);
    await this.report(run, { ...backToQueue(reason), from: ['Matched', 'Running'] });
    await this.release(run);
  }

  /** Attempts that failed by the machine do not count: the job is not to blame for them. */
  private async isRefused(run: R, reason?: string): Promise<boolean> {
    const { attempt, jid } = run.order;
    if (attempt <= MAX_REQUEUES) return false;
    const forMachine = await this.parts.repository.countGivenBack(jid, OF_MACHINE);
    if (attempt - forMachine <= MAX_REQUEUES) return false;
    await this.resume(run);
    const why = reason === undefined ? '' : `: ${reason}`;
    await this.refuse(run, new RunFault(MINOR.submitting, `Given back too often${why}`));
    return true;
  }

  /**
   * The job was not Running any more: stalled meanwhile, or killed, or taken back. One that was stalled and has been
   * resumed in between is still ours: what the run has left must stay until its end is written.
   */
  private async finishOther(run: R, end: RunEnd, output: string | undefined): Promise<void> {
    const isOurs =
      (await this.resume(run)) || (await this.parts.repository.isUnderWay(this.held(run)));
    if (isOurs) await this.finish(run, end);
    else await this.release(run, { output, endedAt: end.endedAt, use: end.usage });
  }

  private told(usage: RunUsage | undefined): Parameters {
    return usage === undefined ? {} : usageParameters(usage, this.parts.config);
  }

  private async keepOutput(run: R): Promise<Output> {
    const { config, sandboxes, logger } = this.parts;
    const { maxSandboxBytes: maxBytes, jobOutputBytes: maxFileBytes } = config;
    const { outputs: wanted, inputs } = run.plan;
    const wish = { wanted, inputs, maxBytes, maxFiles: MAX_OUTPUT_FILES, maxFileBytes };
    const found = await collectOutput(this.place.outputOf(run), wish);
    const parameters = parametersOf(found);
    try {
      const hash = found.files.length > 0 ? await sandboxes.keep(found.files) : undefined;
      const fault = faultOf(found);
      return {
        parameters,
        ...(hash === undefined ? {} : { hash }),
        ...(fault === undefined ? {} : { fault }),
      };
    } catch (error) {
      if (isOurs(error)) throw error;
      logger.warn(
        { err: error, jid: String(run.order.jid) },
        'the output of a job cannot be packed',
      );
      return { parameters, fault: 'The output cannot be packed' };
    }
  }

  private async report(
    run: R,
    move: Omit<Move, 'jid' | 'held' | 'source'> & { source?: string },
  ): Promise<boolean> {
    const { executorId, source } = this.place;
    const { jid, attempt } = run.order;
    return this.parts.reports.report({
      source,
      ...move,
      jid,
      held: { executor: executorId, attempt },
    });
  }

  private held(run: R): { jid: RunOrder['jid']; attempt: number; executor: string } {
    const { jid, attempt } = run.order;
    return { jid, attempt, executor: this.place.executorId };
  }

  private now(): Date {
    return new Date(this.parts.clock.now());
  }
}

function backToQueue(reason?: string): Pick<Move, 'steps' | 'source' | 'set'> {
  const app = reason === undefined ? {} : { app: reason };
  return {
    steps: [
      { to: 'Rescheduled', minor: MINOR.rescheduled, ...app },
      { to: 'Waiting', minor: MINOR.waiting },
    ],
    source: 'Reaper',
    set: { executor: null },
  };
}

function faultOf({ isCut, excess }: Collected): string | undefined {
  if (isCut) return 'The sandbox directory has too many files to look through';
  return excess?.replace(/^./, (first) => first.toUpperCase());
}

/** What was asked for and is not there, what is there and cannot be brought, and what nobody has asked for. */
function parametersOf({ missing, leftOut, notRequested }: Collected): Parameters {
  const left = leftOut.map(({ name, reason }) => `${shown(name)} (${reason})`);
  const lists = {
    MissingOutput: shortList(missing.map(shown)),
    OutputLeftOut: shortList(left),
    OutputNotRequested: shortList(notRequested.names.map(shown), notRequested.count),
  };
  return Object.fromEntries(Object.entries(lists).filter(([, text]) => text !== ''));
}

/** A job may have made names of any length, with any characters. */
function shown(name: string): string {
  // eslint-disable-next-line no-control-regex -- those that would break the line
  return name.slice(0, SHOWN_LENGTH).replaceAll(/[\x00-\x1f\x7f]/g, '?');
}

/** The first texts of a list, and how many there are more; the list may be the begin of one of `count`. */
function shortList(texts: readonly string[], count = texts.length): string {
  const shownTexts = texts.slice(0, SHOWN_NAMES);
  const more = count - shownTexts.length;
  return shownTexts.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** True for the fault of something that the service needs and that will be back. */
export function isAway(error: unknown): boolean {
  return error instanceof Problem && error.code === 'service.unavailable';
}

/** True for a fault of the machine, the database or the store, which passes; the output is not to blame. */
function isOurs(error: unknown): boolean {
  return isAway(error) || (error as NodeJS.ErrnoException).syscall !== undefined;
}
