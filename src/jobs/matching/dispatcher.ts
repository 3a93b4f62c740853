import { Inject, Injectable } from '@nestjs/common';
import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnModuleDestroy,
} from '@nestjs/common';
import { randomId } from '#src/kernel/index.js';
import {
  ChangeFeed,
  CONFIG,
  type Config,
  type RunningTask,
  Scheduler,
  type TaskOutcome,
  Tracing,
} from '#src/platform/index.js';
import type { Move } from '../state/jobs.repository.js';
import { readInputData } from '../manifest/manifest-places.js';
import { Faults } from '../manifest/manifest-values.js';
import { admittedSteps, STOP_CHANNEL, WORK_CHANNEL } from '../state/admission.js';
import { MINOR } from '../state/job-state.js';
import { JobMetrics } from '../state/job-metrics.js';
import { DispatchRepository, type JobToAdmit } from './dispatch.repository.js';
import {
  EXECUTORS,
  INPUT_DATA_CATALOGUE,
  type Executor,
  type InputDataCatalogue,
} from '../run/executor.js';
import { RunReports } from '../run/run-reports.js';
import { Matcher } from './matcher.js';
import { OutputReads } from './output-reads.js';

const POLL_MS = 2_000;
/** After a round that failed. */
const RETRY_MS = 1_000;
const ADMIT_BATCH = 200;

/**
 * Admits new jobs and gives waiting ones to the executors of this instance; woken by the change feed, by free
 * places, and by a slow poll when both were missed. Any number of instances run it on one database.
 */
@Injectable()
export class Dispatcher
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnModuleDestroy
{
  private readonly instance = randomId();
  private readonly tasks: RunningTask[] = [];
  /** Of these: what looks for work, and is woken when there may be some. */
  private readonly seekers: RunningTask[] = [];
  private readonly stopListening: (() => void)[] = [];
  private open: Executor[] = [];

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(EXECUTORS) private readonly executors: readonly Executor[],
    @Inject(INPUT_DATA_CATALOGUE) private readonly catalogue: InputDataCatalogue,
    private readonly repository: DispatchRepository,
    private readonly matcher: Matcher,
    private readonly feed: ChangeFeed,
    private readonly reports: RunReports,
    private readonly outputs: OutputReads,
    private readonly metrics: JobMetrics,
    private readonly tracing: Tracing,
    private readonly scheduler: Scheduler,
  ) {}

  /** Starts the tasks, unless this instance is to run no jobs. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.config.role === 'api') return;
    this.open = [];
    for (const executor of this.executors) {
      if (await executor.open()) this.open.push(executor);
    }
    this.seek('admission', () => this.admit());
    this.seek('unplaceable', () => this.matcher.noteUnplaceable());
    for (const executor of this.open) this.startExecutor(executor);
    this.stopListening.push(
      this.feed.listen(WORK_CHANNEL, () => this.seekers.forEach((task) => task.wake())),
      this.feed.listen(STOP_CHANNEL, (jid) => this.onStop(jid)),
      this.outputs.serve(this.open),
    );
  }

  /** Stops claiming and hands back what was claimed but not started; running programs go on. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const stop of this.stopListening.splice(0)) stop();
    this.seekers.length = 0;
    await Promise.all(this.tasks.splice(0).map((task) => task.stop()));
    await Promise.all(this.open.map((executor) => executor.close()));
    await this.reports.close();
  }

  async onModuleDestroy(): Promise<void> {
    await this.beforeApplicationShutdown();
  }

  private startExecutor(executor: Executor): void {
    const beatMs = Math.max(1_000, (this.config.jobLease * 1000) / 4);
    const { backend } = executor;
    let isReconciled = false;
    // Nothing is claimed before the runs of a predecessor are found again, and at once when they are.
    const claim = this.seek(`claim ${backend}`, async () =>
      isReconciled ? this.claim(executor) : false,
    );
    this.repeat(`heartbeat ${backend}`, () => this.heartbeat(executor), beatMs);
    this.repeat(`reconcile ${backend}`, async () => {
      await executor.reconcile(await this.repository.held(executor.id));
      if (isReconciled) return;
      isReconciled = true;
      claim.wake();
    });
    executor.onFree = () => claim.wake();
  }

  private repeat(
    name: string,
    run: () => Promise<TaskOutcome | void>,
    everyMs = POLL_MS,
  ): RunningTask {
    const task = { name: `jobs.${name}`, firstMs: 0, everyMs, retryMs: RETRY_MS, run };
    const running = this.scheduler.add(task);
    this.tasks.push(running);
    return running;
  }

  /** Repeats what is woken when there may be work; it answers whether there is more. */
  private seek(name: string, work: () => Promise<boolean>): RunningTask {
    const seeker = this.repeat(name, async () => ((await work()) ? 'more' : undefined));
    this.seekers.push(seeker);
    return seeker;
  }

  private async heartbeat(executor: Executor): Promise<void> {
    await this.repository.recordHeartbeat(executor.id, this.instance, executor.backend);
    const olderThan = new Date(Date.now() - Math.max(30_000, this.config.jobLease * 1000));
    await this.repository.recordJobHeartbeats(executor.id, olderThan);
  }

  /** Fills the free places of an executor; true when there may be more to claim. */
  private async claim(executor: Executor): Promise<boolean> {
    const started = Date.now();
    const { orders, hasMore } = await this.matcher.claim(executor);
    if (orders.length === 0) return false;
    for (const order of orders) this.metrics.dispatched(order);
    executor.start(orders);
    const { id, backend } = executor;
    const traced = { 'gridgate.executor': id, 'gridgate.backend': backend };
    this.tracing.record('dispatch jobs', started, { ...traced, 'gridgate.jobs': orders.length });
    return hasMore && executor.freeSlots() > 0;
  }

  /** Looks the input data of new jobs up; true when there may be more. */
  private async admit(): Promise<boolean> {
    const count = await this.repository.admit(ADMIT_BATCH, (job) => this.admission(job));
    if (count > 0) await this.feed.notify(WORK_CHANNEL);
    return count === ADMIT_BATCH;
  }

  private async admission({ jid, manifest, submitter, waits }: JobToAdmit): Promise<Move> {
    const [checking, admitted] = admittedSteps(waits);
    const paths = readInputData(
      manifest,
      { vo: undefined, maxInputData: Number.MAX_SAFE_INTEGER },
      new Faults(),
    );
    const missing = paths.length === 0 ? [] : await this.catalogue.missing(submitter, paths);
    if (missing.length === 0) {
      return {
        jid,
        steps: [checking, admitted],
        from: ['Received'],
        source: 'Optimizer',
        set: { verified: true },
      };
    }
    const more = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
    const app = `${(missing[0] ?? '').slice(0, 200)}${more} not in the catalogue`;
    return {
      jid,
      steps: [checking, { to: 'Failed', minor: MINOR.inputDataMissing, app }],
      from: ['Received'],
      source: 'Optimizer',
    };
  }

  private onStop(jid: string | undefined): void {
    if (jid === undefined) return; // missed ones are found by the next look at what is held
    for (const executor of this.open) executor.cancel(jid);
  }
}
