import { machineFaultOf, Problem } from '#src/kernel/index.js';
import type { Logger } from '#src/runtime/index.js';
import { MINOR } from '../state/job-state.js';
import type { RunLeft, RunOrder } from './executor.js';
import { collectOutput, type Collected } from './output-collector.js';
import type { OutputPlaces } from './output-places.js';
import { RunFault, type RunPlan } from './run-plan.js';
import type { RunResult, RunService, RunStart, StartPermission } from './run-service.js';
import { outputPlaces, storesOutputs } from './stored-outputs.js';
import type { RunUsage } from './run-usage.js';
import type { Verdict } from './run-verdict.js';

const MAX_OUTPUT_FILES = 10_000;
const SHOWN_NAMES = 100;
const SHOWN_LENGTH = 255;

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

/** What the life of runs needs. */
export interface LifeParts {
  /** Limits of an output: bytes of the sandbox, and of one file. */
  config: { maxSandboxBytes: number; jobOutputBytes: number };
  logger: Logger;
}

/** What is different from place to place. */
export interface RunPlace<R extends Run> {
  /** Where the output of a run lies. */
  outputOf(run: R): OutputPlaces;
  /** Ends what may still live of a run of which nobody knows what became. */
  endProcesses(run: R): Promise<void>;
  /** Nothing is left to look after: removes what the run has left. */
  remove(run: R): Promise<void>;
}

/** What became of the files that a run stores. */
export interface Stored {
  /** Why not all are stored. */
  fault?: string | undefined;
  /** Patterns without a file. */
  missing: readonly string[];
}

interface Output {
  hash?: string;
  /** What is told of what was not brought back. */
  parameters: Parameters;
  /** Why the output is not whole. */
  fault?: string;
}

/**
 * The one life of a run, whatever its place: begun, finished, requeued, refused, failed as unknown, resumed, released. What
 * became of it is reported to the service first, and what it left is removed after that.
 */
export class RunLife<R extends Run> {
  constructor(
    private readonly parts: LifeParts,
    private readonly place: RunPlace<R>,
    private readonly service: RunService,
  ) {}

  /** Asks for the permission to start (local), or notes that the batch system has started it. */
  async begin(run: R, start: RunStart): Promise<StartPermission> {
    return this.service.starting(run.order, start);
  }

  /** The payload has ended and nothing of it lives: brings its output home and moves the job to its end. */
  async finish(
    run: R,
    { verdict, endedAt, usage, parameters }: RunEnd,
    store?: (run: R) => Promise<Stored>,
  ): Promise<void> {
    const output = await this.keepOutput(run);
    const result: RunResult = {
      failure: verdict.isGood ? undefined : verdict,
      ...{ endedAt, usage, parameters: { ...parameters, ...output.parameters } },
      ...{ output: output.hash, outputFault: output.fault },
    };
    const isGood = verdict.isGood && output.fault === undefined;
    if (!isGood || !store || !storesOutputs(run.order)) {
      await this.service.ended(run.order, result);
    } else if (await this.service.ended(run.order, { ...result, storing: 'begins' })) {
      const { fault, missing } = await store(run);
      const storing = fault === undefined ? 'is over' : { fault };
      await this.service.ended(run.order, { ...withMissing(result, missing), storing });
    }
    await this.place.remove(run);
  }

  /** A run that nobody waits for is over: what it left may still be had of a killed job. */
  async finishUnwanted(run: R, end: Omit<RunLeft, 'output'>): Promise<void> {
    const output = await this.keepOutput(run);
    await this.release(run, { ...end, output: output.hash });
  }

  /** Lets go of a run without moving its job. */
  async release(run: R, left: RunLeft = {}): Promise<void> {
    await this.service.released(run.order, left);
    await this.place.remove(run);
  }

  /** Certainly not started: back to the queue, without counting as a reschedule, also when it was stalled. */
  async requeue(run: R, reason?: string): Promise<void> {
    await this.service.returned(run.order, { reason });
    await this.place.remove(run);
  }

  /**
   * Claimed, and begun by nobody, as the database said a moment ago: back to the queue. When it was begun since then it is
   * left as it is, with its files; the next look at what is held tells what it is.
   */
  async requeueUnstarted(run: R): Promise<void> {
    if (await this.service.returnedUnstarted(run.order)) await this.place.remove(run);
  }

  /**
   * It was not started and never will be: the job fails. For a fault of the machine it goes back to the queue instead, however
   * often that happens.
   */
  async refuse(run: R, error: unknown): Promise<void> {
    const reason = machineFaultOf(error);
    if (reason === undefined) await this.service.refused(run.order, this.faultOf(run, error));
    else await this.service.returned(run.order, { reason, isOfMachine: true });
    await this.place.remove(run);
  }

  /** What would tell is gone, and nobody can say whether it ran: never again, then. */
  async failUnknown(run: R, app: string): Promise<void> {
    await this.place.endProcesses(run);
    await this.service.missing(run.order, app);
    await this.place.remove(run);
  }

  /** A stalled job shows a sign of life; true when it was stalled. */
  async resume(run: R): Promise<boolean> {
    return this.service.resumed(run.order);
  }

  private faultOf({ order }: R, error: unknown): { minor: string; app: string } {
    if (error instanceof RunFault) return error;
    this.parts.logger.error({ err: error, jid: String(order.jid) }, 'a job cannot be started');
    return { minor: MINOR.initialization, app: 'The job could not be started' };
  }

  private async keepOutput(run: R): Promise<Output> {
    const { config, logger } = this.parts;
    const { maxSandboxBytes: maxBytes, jobOutputBytes: maxFileBytes } = config;
    const { outputs: wanted, inputs, fetched } = run.plan;
    const placeOf = outputPlaces(run.order);
    const isStored = (name: string): boolean => placeOf(name) !== undefined;
    const limits = { maxBytes, maxFiles: MAX_OUTPUT_FILES, maxFileBytes };
    const wish = { wanted, inputs, fetched, isStored, ...limits };
    const found = await collectOutput(this.place.outputOf(run), wish);
    const parameters = parametersOf(found);
    try {
      const hash =
        found.files.length > 0 ? await this.service.keepOutput(run.order, found.files) : undefined;
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
      const fault = error instanceof RunFault ? error.app : 'The output cannot be packed';
      return { parameters, fault };
    }
  }
}

function withMissing(result: RunResult, missing: readonly string[]): RunResult {
  if (missing.length === 0) return result;
  const { MissingOutput: before } = result.parameters;
  const all = [...(before === undefined ? [] : [String(before)]), ...missing.map(shownName)];
  return { ...result, parameters: { ...result.parameters, MissingOutput: shortList(all) } };
}

function faultOf({ isCut, excess }: Collected): string | undefined {
  if (isCut) return 'The sandbox directory has too many files to look through';
  return excess?.replace(/^./, (first) => first.toUpperCase());
}

/** What was asked for and is not there, what is there and cannot be brought, and what nobody has asked for. */
function parametersOf({ missing, leftOut, notRequested }: Collected): Parameters {
  const left = leftOut.map(({ name, reason }) => `${shownName(name)} (${reason})`);
  const lists = {
    MissingOutput: shortList(missing.map(shownName)),
    OutputLeftOut: shortList(left),
    OutputNotRequested: shortList(notRequested.names.map(shownName), notRequested.count),
  };
  return Object.fromEntries(Object.entries(lists).filter(([, text]) => text !== ''));
}

/** A job may have made names of any length, with any characters. */
export function shownName(name: string): string {
  // eslint-disable-next-line no-control-regex -- those that would break the line
  return name.slice(0, SHOWN_LENGTH).replaceAll(/[\x00-\x1f\x7f]/g, '?');
}

/** The first texts of a list, and how many there are more; the list may be the begin of one of `count`. */
export function shortList(texts: readonly string[], count = texts.length): string {
  const shownTexts = texts.slice(0, SHOWN_NAMES);
  const more = count - shownTexts.length;
  return shownTexts.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** True for the fault of something that the service needs and that will be back. */
export function isAway(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'service.unavailable';
}

/** True for a fault of the machine, the database or the store, which passes; the output is not to blame. */
function isOurs(error: unknown): boolean {
  return isAway(error) || (error as NodeJS.ErrnoException).syscall !== undefined;
}
