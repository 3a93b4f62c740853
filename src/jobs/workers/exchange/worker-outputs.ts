import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK, Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { HeldJob } from '../../run/executor.js';
import { fetchedPaths } from '../../manifest/manifest-places.js';
import { RunFault } from '../../run/run-plan.js';
import { storesOutputs } from '../../run/stored-outputs.js';
import { parseJid } from '../../state/job.js';
import { SandboxService } from '../../sandbox/sandbox.service.js';
import {
  SANDBOX_STORE,
  SandboxMissingError,
  type SandboxStore,
} from '../../sandbox/sandbox.store.js';
import { backendOf, executorOf } from '../worker.js';
import type { WorkerEntity } from '../worker.entity.js';
import type { EndedReport, InputsAnswer, RunKey } from './protocol.js';
import { WorkerRunsRepository } from './worker-runs.repository.js';
import { isUnderWay, WorkerRuns } from './worker-runs.js';

const MAX_FILES = 10_000;
/** Begin of the reference of a run that has put its output; the rest is the hash. */
const OUTPUT = 'output ';

/** The reference of a run that has put nothing, from its claim on. */
export const NO_OUTPUT = 'none';

/** True of the reference of a run of a worker; others are of runs that a service of an earlier release has begun itself. */
export function isOfWorker(reference: string): boolean {
  return reference === NO_OUTPUT || reference.startsWith(OUTPUT);
}

/** What runs of workers bring and take: their input sandboxes, and outputs, which are known by what the very run has sent. */
@Injectable()
export class WorkerOutputs {
  /** Runs whose output arrives on this instance. */
  private readonly arriving = new Set<RunKey>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(SANDBOX_STORE) private readonly store: SandboxStore,
    private readonly sandboxes: SandboxService,
    private readonly runs: WorkerRuns,
    private readonly repository: WorkerRunsRepository,
  ) {}

  /** The archive of the input sandbox of a run. Throws Problem 404 when the worker does not hold it, or it has none. */
  async input(worker: WorkerEntity, run: RunKey): Promise<Readable> {
    const { inputSandbox } = await this.wantedRun(worker, run);
    if (inputSandbox === null) throw new Problem('job.not-found', 'The run has no input sandbox');
    try {
      return await this.store.open(inputSandbox);
    } catch (cause) {
      if (!(cause instanceof SandboxMissingError)) throw cause;
      throw new Problem('job.not-found', 'The input sandbox is not in the store', { cause });
    }
  }

  /**
   * What opens files of the catalogue that are brought to a run which has not begun; with the first of them its history says so. Throws
   * Problem 404 when the worker does not hold it so, or a path is none of its files.
   */
  async openFetched(
    worker: WorkerEntity,
    run: RunKey,
    paths: readonly string[],
  ): Promise<InputsAnswer> {
    const job = await this.heldRun(worker, run);
    const { sandbox, inputData } = fetchedPaths(job.manifest);
    const known = new Set([...sandbox, ...inputData]);
    const isKnown = paths.every((path) => known.has(path));
    if (job.status !== 'Matched' || !isKnown) throw noSuchRun(run);
    const service = this.runs.serviceOf(worker);
    try {
      const files = await service.openFetched(job, paths);
      const { jid, attempt } = job;
      const held = { jid, attempt, executor: executorOf(worker) };
      const now = new Date(this.clock.now());
      await this.repository.noteFetching(held, { source: backendOf(worker), now });
      return { files };
    } catch (error) {
      if (!(error instanceof RunFault)) throw error;
      await service.refused(job, error);
      throw noSuchRun(run);
    }
  }

  /** A run whose files are stored: its program has ended well. Throws Problem 404 for another, and one that the worker does not hold. */
  async storingRun(worker: WorkerEntity, run: RunKey): Promise<HeldJob> {
    const job = await this.heldRun(worker, run);
    if (job.status !== 'Completing' || !storesOutputs(job)) throw noSuchRun(run);
    return job;
  }

  /** Keeps the output of a run, the first that it puts. Throws Problem 404 when the worker does not hold it, 503 while it arrives, and what repackArchive throws. */
  async put(worker: WorkerEntity, run: RunKey, archive: Readable): Promise<void> {
    const job = await this.heldRun(worker, run);
    if (job.status === 'Matched') throw noSuchRun(run);
    if (job.reference?.startsWith(OUTPUT)) {
      archive.resume(); // the answer to it was lost
      return;
    }
    if (this.arriving.has(run))
      throw Problem.unavailable('The output of the run is arriving already');
    this.arriving.add(run);
    try {
      const hash = await this.keep(archive);
      const { jid, attempt } = job;
      const held = { jid, attempt, executor: executorOf(worker) };
      if (await this.repository.noteOutput(held, `${OUTPUT}${hash}`)) return;
      // It is not the worker's any more, or another instance was first.
      const now = await this.heldRun(worker, run);
      if (!now.reference?.startsWith(OUTPUT)) throw noSuchRun(run);
    } finally {
      this.arriving.delete(run);
    }
  }

  /** Hash of the output that a report of an end names; undefined for none. Throws what repackArchive throws. */
  async ofReport(job: HeldJob, { output }: EndedReport): Promise<string | undefined> {
    if (output === undefined) return undefined;
    if ('archive' in output) {
      return this.keep(Readable.from([Buffer.from(output.archive, 'base64')]));
    }
    return job.reference?.startsWith(OUTPUT) ? job.reference.slice(OUTPUT.length) : undefined;
  }

  /** A run that the worker holds and somebody waits for. Throws Problem 404. */
  async wantedRun(worker: WorkerEntity, run: RunKey): Promise<HeldJob> {
    const job = await this.heldRun(worker, run);
    if (!isUnderWay(job)) throw noSuchRun(run);
    return job;
  }

  /** A run that the worker holds, though nobody may wait for it. Throws Problem 404. */
  private async heldRun(worker: WorkerEntity, run: RunKey): Promise<HeldJob> {
    const [, jid, attempt] = /^([1-9]\d{0,18})\.(\d{1,9})$/.exec(run) ?? [];
    const id = jid === undefined ? undefined : parseJid(jid);
    const job = id && (await this.runs.heldRun(worker, { jid: id, attempt: Number(attempt) }));
    if (!job) throw noSuchRun(run);
    return job;
  }

  private async keep(archive: Readable): Promise<string> {
    const limits = { maxBytes: this.config.maxSandboxBytes, maxFiles: MAX_FILES };
    return this.sandboxes.keepArchive(archive, limits);
  }
}

function noSuchRun(run: RunKey): Problem {
  return new Problem('job.not-found', `The worker has no run ${run}`);
}
