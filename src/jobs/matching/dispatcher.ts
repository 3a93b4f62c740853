import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { randomId } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed } from '#src/database/index.js';
import {
  LOGGER,
  type Logger,
  type RunningTask,
  Scheduler,
  type TaskOutcome,
  Tracing,
} from '#src/runtime/index.js';
import type { Move } from '../state/jobs.repository.js';
import { inputDataOf, notInCatalogue } from '../run/input-data.js';
import { admittedSteps, STOP_CHANNEL, WORK_CHANNEL } from '../state/admission.js';
import { MINOR } from '../state/job-state.js';
import { JobMetrics } from '../state/job-metrics.js';
import { DispatchRepository, type JobToAdmit } from './dispatch.repository.js';
import {
  EXECUTOR_SOURCE,
  EXECUTORS,
  INPUT_DATA_CATALOGUE,
  type Executor,
  type ExecutorSource,
  type InputDataCatalogue,
} from '../run/executor.js';
import { RunReports } from '../run/run-reports.js';
import { Matcher } from './matcher.js';
import { OutputReads } from './output-reads.js';
import { PlaceFollower } from './place-follower.js';

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
  private readonly tasks = new Set<RunningTask>();
  /** Of these: what looks for work, and is woken when there may be some. */
  private readonly seekers = new Set<RunningTask>();
  private readonly tasksOf = new Map<Executor, RunningTask[]>();
  private follower: PlaceFollower | undefined;
  private readonly stopListening: (() => void)[] = [];
  private readonly open: Executor[] = [];

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(EXECUTORS) private readonly executors: readonly Executor[],
    @Inject(EXECUTOR_SOURCE) private readonly source: ExecutorSource,
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
    for (const executor of this.executors) {
      if (await executor.open()) this.open.push(executor);
    }
    this.seek('admission', () => this.admit());
    this.seek('unplaceable', () => this.matcher.noteUnplaceable());
    for (const executor of this.open) this.startExecutor(executor);
    this.followPlaces();
    this.stopListening.push(
      this.feed.listen(WORK_CHANNEL, () => this.seekers.forEach((task) => task.wake())),
      this.feed.listen(STOP_CHANNEL, (jid) => this.onStop(jid)),
      this.outputs.serve(this.open),
    );
  }

  /** Stops claiming and hands back what was claimed but not started; running programs go on. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const stop of this.stopListening.splice(0)) stop();
    this.follower?.stop();
    this.seekers.clear();
    await Promise.all([...this.tasks].map((task) => this.end(task)));
    await Promise.all(this.open.splice(0).map((executor) => executor.close()));
    await this.reports.close();
  }

  async onModuleDestroy(): Promise<void> {
    await this.beforeApplicationShutdown();
  }

  /** Executors that come and go: what they do, and that they end, concerns no other one. */
  private followPlaces(): void {
    const { source, repository, logger, instance } = this;
    this.follower = new PlaceFollower(
      { source, repository, logger, instance },
      {
        started: (executor) => {
          this.open.push(executor);
          this.startExecutor(executor);
        },
        stopped: async (executor) => {
          const place = this.open.indexOf(executor);
          if (place >= 0) this.open.splice(place, 1);
          await Promise.all((this.tasksOf.get(executor) ?? []).map((task) => this.end(task)));
          this.tasksOf.delete(executor);
          await executor.close();
        },
      },
    );
    const follower = this.follower;
    this.repeat('places', () => follower.look());
  }

  private startExecutor(executor: Executor): void {
    const beatMs = Math.max(1_000, (this.config.jobLease * 1000) / 4);
    const { backend, id } = executor;
    const name = id.startsWith(backend) ? id : backend;
    let isReconciled = false;
    // Nothing is claimed before the runs of a predecessor are found again, and at once when they are.
    const claim = this.seek(`claim ${name}`, async () =>
      isReconciled ? this.claim(executor) : false,
    );
    const beat = this.repeat(`heartbeat ${name}`, () => this.heartbeat(executor), beatMs);
    const reconcile = this.repeat(`reconcile ${name}`, async () => {
      await executor.reconcile(await this.repository.held(executor.id));
      if (isReconciled) return;
      isReconciled = true;
      claim.wake();
    });
    executor.onFree = () => claim.wake();
    this.tasksOf.set(executor, [claim, beat, reconcile]);
  }

  private async end(task: RunningTask): Promise<void> {
    this.tasks.delete(task);
    this.seekers.delete(task);
    await task.stop();
  }

  private repeat(
    name: string,
    run: () => Promise<TaskOutcome | void>,
    everyMs = POLL_MS,
  ): RunningTask {
    const task = { name: `jobs.${name}`, firstMs: 0, everyMs, retryMs: RETRY_MS, run };
    const running = this.scheduler.add(task);
    this.tasks.add(running);
    return running;
  }

  /** Repeats what is woken when there may be work; it answers whether there is more. */
  private seek(name: string, work: () => Promise<boolean>): RunningTask {
    const seeker = this.repeat(name, async () => ((await work()) ? 'more' : undefined));
    this.seekers.add(seeker);
    return seeker;
  }

  private async heartbeat(executor: Executor): Promise<void> {
    await this.repository.recordHeartbeat(executor, this.instance);
    const olderThan = new Date(Date.now() - Math.max(30_000, this.config.jobLease * 1000));
    await this.repository.recordJobHeartbeats(executor.id, olderThan);
  }

  /** Fills the free places of an executor; true when there may be more to claim. */
  private async claim(executor: Executor): Promise<boolean> {
    const started = Date.now();
    const { orders, hasMore } = await this.matcher.claim(executor);
    if (orders.length === 0) return hasMore && executor.freeSlots() > 0;
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

  private async admission({ jid, manifest, submitter, heldBy }: JobToAdmit): Promise<Move> {
    const [checking, admitted] = admittedSteps(heldBy);
    const paths = inputDataOf({ manifest });
    const files = paths.length === 0 ? new Map() : await this.catalogue.files(submitter, paths);
    const missing = paths.filter((path) => !files.has(path));
    if (missing.length === 0) {
      return {
        jid,
        steps: [checking, admitted],
        from: ['Received'],
        source: 'Optimizer',
        set: { verified: true },
      };
    }
    return {
      jid,
      steps: [
        checking,
        { to: 'Failed', minor: MINOR.inputDataMissing, app: notInCatalogue(missing) },
      ],
      from: ['Received'],
      source: 'Optimizer',
    };
  }

  private onStop(jid: string | undefined): void {
    if (jid === undefined) return; // missed ones are found by the next look at what is held
    for (const executor of this.open) executor.cancel(jid);
  }
}
