import type { Readable } from 'node:stream';
import { Problem, type Clock } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import type { Site } from '#src/registry/index.js';
import type { ArchiveFile } from '../sandbox/sandbox-archive.js';
import type { SandboxService } from '../sandbox/sandbox.service.js';
import type { SandboxStore } from '../sandbox/sandbox.store.js';
import { MINOR } from '../state/job-state.js';
import type { Move } from '../state/jobs.repository.js';
import type { HeldRuns, InputDataCatalogue, OpenedFile, RunLeft, RunOrder } from './executor.js';
import { inputsOf, type RunInputs } from './input-data.js';
import type { JobToken, JobTokens } from './job-tokens.js';
import { shortList } from './run-life.js';
import { RunFault } from './run-plan.js';
import type { RunReports } from './run-reports.js';
import type {
  ArrivedOutput,
  NewOutput,
  OpenedOutput,
  RunResult,
  RunReturn,
  RunService,
  RunSite,
  RunStart,
} from './run-service.js';
import { demandedPaths, outputPlaces, storesOutputs } from './stored-outputs.js';
import { usageParameters } from './run-usage.js';

const MAX_REQUEUES = 20;
/** A job may be stalled and resumed while its end is written. */
const MAX_TRIES = 3;
/** Begin of what the history says of a job that was given back because of the machine. */
const OF_MACHINE = 'Not started by a fault of the machine';

/** What the outcomes of runs need of the service. */
export interface OutcomeParts {
  config: Config;
  clock: Clock;
  reports: RunReports;
  repository: HeldRuns;
  sandboxes: SandboxService;
  store: SandboxStore;
  catalogue: InputDataCatalogue;
  tokens: Pick<JobTokens, 'give' | 'end'>;
  /** The site of that name; undefined when the registry has none (any more). */
  siteOf: (name: string) => Promise<Site | undefined>;
}

/** The service for the runs that an executor holds; `source` is named in the history of their jobs. */
export type RunOutcomesOf = (executor: { id: string; source: string }) => RunService;

/** Injection token of RunOutcomesOf. */
export const RUN_OUTCOMES = Symbol('RunOutcomes');

/**
 * The service for the runs of one executor: what it reports becomes moves of its jobs. Each starts from a state in
 * which the job is held by this executor in this attempt; a job that is not its any more is left as it is.
 */
export class RunOutcomes implements RunService {
  /** `source` moves the jobs, in their history; it is the batch system of their parameters. */
  constructor(
    private readonly parts: OutcomeParts,
    private readonly executor: { id: string; source: string },
  ) {}

  async starting(run: RunOrder, { startedAt, from, reference }: RunStart): Promise<boolean> {
    return this.move(run, {
      steps: [{ to: 'Running', minor: MINOR.application }],
      from,
      set: { startedAt, ...(reference === undefined ? {} : { reference }) },
      ...(reference === undefined
        ? {}
        : { parameters: { BatchSystem: this.executor.source, Pilot_Reference: reference } }),
    });
  }

  /**
   * A job that is not Running any more was stalled meanwhile, or killed, or taken back. One that was stalled and has been
   * resumed in between is still this executor's: its end is written.
   */
  async ended(run: RunOrder, told: RunResult): Promise<boolean> {
    const result = withStoring(run, told);
    const { output, endedAt, usage, storing } = result;
    await this.parts.tokens.end(run);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (await this.writeEnd(run, result)) return storing === 'begins';
      const isResumed = await this.resumed(run);
      if (isResumed) continue;
      const isOurs = await this.parts.repository.isUnderWay(this.held(run));
      if (isOurs && storing === 'begins') return true; // the answer to an earlier report was lost
      if (isOurs) continue;
      await this.released(run, { output, endedAt, use: usage });
      return false;
    }
    throw Problem.unavailable('The end of a run cannot be written now');
  }

  /** False when the job is not where its end starts. */
  private async writeEnd(run: RunOrder, result: RunResult): Promise<boolean> {
    const { storing } = result;
    const move = this.endOf(result);
    if (storing === undefined || storing === 'begins') return this.move(run, move);
    // Who was stalled while its files were stored is running again.
    const [, ...steps] = move.steps;
    const later: RunMove = {
      ...move,
      ...{ steps: steps as unknown as Move['steps'], from: ['Completing'] },
    };
    const moves = [later, move].map((one) => this.heldMove(run, one));
    if (storing !== 'is over') return this.firstOf(moves, (one) => this.parts.reports.report(one));
    return this.register(run, result, moves);
  }

  private async firstOf(
    moves: readonly Move[],
    write: (move: Move) => Promise<boolean>,
  ): Promise<boolean> {
    for (const move of moves) if (await write(move)) return true;
    return false;
  }

  /** The files and the end of their job, together or neither. */
  private async register(
    run: RunOrder,
    result: RunResult,
    moves: readonly Move[],
  ): Promise<boolean> {
    const { owner: user, ownerGroup: group, setup, jid, attempt } = run;
    try {
      await this.parts.catalogue.outputs.register(
        { user, group, setup, jid, attempt },
        demandedPaths(run),
        async (transaction, paths) => {
          const stored: Parameters =
            paths.length > 0 ? { UploadedOutputData: shortList(paths) } : {};
          const isMoved = await this.firstOf(moves, (move) => {
            const parameters = { ...move.parameters, ...stored };
            return this.parts.reports.write({ ...move, parameters }, transaction);
          });
          if (!isMoved) throw new NotMovedError();
        },
      );
      return true;
    } catch (error) {
      if (error instanceof NotMovedError) return false;
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      return this.writeEnd(run, { ...result, storing: { fault: error.detail } });
    }
  }

  async openOutputs(run: RunOrder, files: readonly NewOutput[]): Promise<OpenedOutput[]> {
    const { owner: user, ownerGroup: group, setup, jid, attempt } = run;
    const placeOf = outputPlaces(run);
    const wanted = files.flatMap(({ name, ...file }) => {
      const place = placeOf(name);
      return place ? [{ ...file, ...place }] : [];
    });
    const owned = { user, group, setup, jid, attempt };
    const begun = await this.parts.catalogue.outputs.begin(owned, wanted);
    if (!begun)
      return files.map(({ name }) => ({ name, fault: 'its submitter may not write any more' }));
    const byPath = new Map(begun.map(({ path, ...place }) => [path, place]));
    return files.map(({ name }) => {
      const place = byPath.get(placeOf(name)?.path ?? '');
      return { name, ...(place ?? { fault: 'is none of OutputData' }) };
    });
  }

  async arrivedOutputs(run: RunOrder, names: readonly string[]): Promise<ArrivedOutput[]> {
    const placeOf = outputPlaces(run);
    const paths = names.map((name) => placeOf(name)?.path ?? '');
    const looked = await this.parts.catalogue.outputs.arrived(run, paths);
    const byPath = new Map(looked.map(({ path, ...found }) => [path, found]));
    return names.map((name, place) => ({ name, ...byPath.get(paths[place] ?? '') }));
  }

  async returned(run: RunOrder, back: RunReturn): Promise<void> {
    if (!back.isOfMachine && (await this.isRefused(run, back.reason))) return;
    await this.resumed(run);
    await this.move(run, { ...backToQueue(back), from: ['Matched', 'Running'] });
    await this.released(run);
  }

  async returnedUnstarted(run: RunOrder): Promise<boolean> {
    if (await this.isRefused(run)) return true;
    if (!(await this.move(run, { ...backToQueue({}), from: ['Matched'] }))) return false;
    await this.released(run);
    return true;
  }

  async refused(run: RunOrder, { minor, app }: { minor: string; app: string }): Promise<void> {
    await this.move(run, {
      steps: [{ to: 'Failed', minor, app }],
      from: ['Matched', 'Running'],
      set: { executor: null, endedAt: this.now(), accounted: true },
      parameters: { BatchSystem: this.executor.source },
    });
    await this.released(run);
  }

  async missing(run: RunOrder, app: string): Promise<void> {
    const isHeld = await this.resumed(run);
    await this.move(run, {
      steps: [{ to: 'Failed', minor: MINOR.pilotGone, app }],
      from: isHeld ? ['Running'] : ['Running', 'Completing'],
      source: 'Reaper',
      set: { executor: null, endedAt: this.now() },
    });
    await this.released(run);
  }

  async released(run: RunOrder, left: RunLeft = {}): Promise<void> {
    await this.parts.tokens.end(run);
    await this.parts.repository.release(this.held(run), left);
  }

  async resumed(run: RunOrder): Promise<boolean> {
    return this.move(run, {
      steps: [{ to: 'Running', minor: MINOR.application }],
      from: ['Stalled'],
    });
  }

  /** Its token ends first: packing may take long. */
  async keepOutput(run: RunOrder, files: readonly ArchiveFile[]): Promise<string> {
    await this.parts.tokens.end(run);
    return this.parts.sandboxes.keep(files);
  }

  async openInput({ inputSandbox }: RunOrder): Promise<Readable> {
    return this.parts.store.open(inputSandbox ?? '');
  }

  async inputs(run: RunOrder): Promise<RunInputs | undefined> {
    return inputsOf(run, this.parts.catalogue);
  }

  async openFetched(run: RunOrder, paths: readonly string[]): Promise<OpenedFile[]> {
    const { owner: user, ownerGroup: group, setup } = run;
    const opened = await this.parts.catalogue.open({ user, group, setup }, paths);
    if (opened) return opened;
    throw new RunFault(MINOR.inputResolution, 'Its submitter may not read its files any more');
  }

  async token(run: RunOrder): Promise<JobToken | undefined> {
    return this.parts.tokens.give(run);
  }

  async siteOf({ site: name }: RunOrder): Promise<RunSite> {
    const site = await this.parts.siteOf(name);
    const path = site?.options['path'];
    return {
      ...(typeof path === 'string' && { path }),
      hasNetwork: site?.network === 'host',
      ...(site && { declared: { processors: site.processors, ramMB: site.ramMB } }),
    };
  }

  private endOf({ failure, endedAt, usage, ...left }: RunResult): Omit<Move, 'jid' | 'source'> {
    const { output, outputFault, parameters, storing } = left;
    const notStored = typeof storing === 'object' ? storing.fault : undefined;
    const isGood = [failure, outputFault, notStored].every((fault) => fault === undefined);
    const badOutput = { minor: MINOR.uploadingOutput, app: outputFault };
    const { minor, app } =
      failure ??
      (notStored === undefined ? badOutput : { minor: MINOR.storingOutputs, app: notStored });
    if (storing === 'begins') {
      return {
        steps: [{ to: 'Completing', minor: MINOR.storingOutputs }],
        from: ['Running'],
        set: { endedAt, ...(output === undefined ? {} : { outputSandbox: output }) },
        parameters,
      };
    }
    const used = usage === undefined ? {} : usageParameters(usage, this.parts.config);
    return {
      steps: [
        { to: 'Completing', minor: MINOR.resolvingOutput },
        ...(isGood ? [{ to: 'Completed', minor: MINOR.outputUploaded } as const] : []),
        isGood
          ? { to: 'Done', minor: MINOR.complete }
          : { to: 'Failed', minor, ...(app === undefined ? {} : { app }) },
      ],
      from: ['Running'],
      set: {
        endedAt,
        executor: null,
        accounted: true,
        use: usage,
        ...(output === undefined ? {} : { outputSandbox: output }),
      },
      parameters: { ...used, ...parameters },
    };
  }

  /** Attempts that failed by the machine do not count: the job is not to blame for them. */
  private async isRefused(run: RunOrder, reason?: string): Promise<boolean> {
    const { attempt, jid } = run;
    if (attempt <= MAX_REQUEUES) return false;
    const forMachine = await this.parts.repository.countGivenBack(jid, OF_MACHINE);
    if (attempt - forMachine <= MAX_REQUEUES) return false;
    await this.resumed(run);
    const why = reason === undefined ? '' : `: ${reason}`;
    await this.refused(run, { minor: MINOR.submitting, app: `Given back too often${why}` });
    return true;
  }

  private async move(run: RunOrder, move: RunMove): Promise<boolean> {
    return this.parts.reports.report(this.heldMove(run, move));
  }

  private heldMove({ jid, attempt }: RunOrder, move: RunMove): Move {
    const { id, source } = this.executor;
    return { source, ...move, jid, held: { executor: id, attempt } };
  }

  private held({ jid, attempt }: RunOrder): {
    jid: RunOrder['jid'];
    attempt: number;
    executor: string;
  } {
    return { jid, attempt, executor: this.executor.id };
  }

  private now(): Date {
    return new Date(this.parts.clock.now());
  }
}

/** A worker that says nothing of files which it should store has stored none. */
function withStoring(run: RunOrder, result: RunResult): RunResult {
  const { storing, failure, outputFault } = result;
  const isGood = failure === undefined && outputFault === undefined;
  if (storing !== undefined || !isGood || !storesOutputs(run)) return result;
  return { ...result, storing: { fault: 'its worker has not stored its files' } };
}

type Parameters = NonNullable<Move['parameters']>;

/** A move of a run, by its executor unless told. */
type RunMove = Omit<Move, 'jid' | 'held' | 'source'> & { source?: string };

/** The job is not where its end starts. */
class NotMovedError extends Error {}

function backToQueue({ reason, isOfMachine }: RunReturn): Pick<Move, 'steps' | 'source' | 'set'> {
  const app = isOfMachine ? `${OF_MACHINE}: ${reason ?? ''}` : reason;
  return {
    steps: [
      { to: 'Rescheduled', minor: MINOR.rescheduled, ...(app === undefined ? {} : { app }) },
      { to: 'Waiting', minor: MINOR.waiting },
    ],
    source: 'Reaper',
    set: { executor: null },
  };
}
