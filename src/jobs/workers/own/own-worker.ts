import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { type Clock, CLOCK, sleep } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { Site } from '#src/registry/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import { DispatchRepository } from '../../matching/dispatch.repository.js';
import { JobMetrics } from '../../state/job-metrics.js';
import { WorkerClaims } from '../exchange/worker-claims.js';
import { isOfWorker } from '../exchange/worker-outputs.js';
import { knownRun } from '../exchange/worker-runs.js';
import { OWN_MACHINE, type OwnMachine, type TakenRun } from './own-machine.js';
import { executorOf } from '../worker.js';
import type { WorkerFacts } from '../worker.entity.js';
import { WorkersRepository } from '../workers.repository.js';

const RETURNING_MS = 3_000;
const LOOK_MS = 50;
const AGAIN_MS = 1_000;
const BACKEND = 'local-process';

/** The worker that the service has on its own machine, for the jobs of sites with the backend `local-process`. */
@Injectable()
export class OwnWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private id: string | undefined;
  private isolation: WorkerFacts['isolation'];
  private isStopped = false;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'allowLocalExecutor' | 'role'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(OWN_MACHINE) private readonly machine: OwnMachine,
    private readonly workers: WorkersRepository,
    private readonly dispatch: DispatchRepository,
    private readonly metrics: JobMetrics,
    private readonly claims: WorkerClaims,
  ) {}

  /** Starts it, unless no job may run here; while the database is away that waits, and the service does not. */
  onApplicationBootstrap(): void {
    const { allowLocalExecutor, role } = this.config;
    if (allowLocalExecutor && role !== 'api') void this.start();
  }

  /** Has it return what it has not begun, for a while; with what it has begun it goes on. */
  async onModuleDestroy(): Promise<void> {
    const { id } = this;
    this.isStopped = true;
    this.id = undefined;
    if (id === undefined) return;
    this.claims.endOwn();
    const until = Date.now() + RETURNING_MS;
    let held = await this.held(id);
    while (held.includes('Matched') && Date.now() < until) {
      await sleep(LOOK_MS);
      held = await this.held(id);
    }
    await this.machine.stop(held.length > 0);
  }

  /** Whether jobs of the site would find that program here; undefined while nobody can say. */
  async hasProgram(name: string, site: Site): Promise<boolean | undefined> {
    const { id } = this;
    if (id === undefined || site.backend !== BACKEND) return undefined;
    const isolation = (this.isolation ??= (await this.workers.find(id))?.facts.isolation);
    if (isolation === undefined) return undefined;
    const { path } = site.options;
    const place = { path: typeof path === 'string' ? path : undefined, isolation };
    return this.machine.hasProgram(name, place);
  }

  private async start(): Promise<void> {
    const id = await this.machine
      .workerId()
      .catch((error: unknown) => this.off(String((error as Error).message)));
    while (id !== undefined && !this.isStopped) {
      try {
        await this.workers.keepOwn(id, new Date(this.clock.now()));
        const taken = await this.taken(id);
        if (this.isStopped) return;
        await this.machine.start({ taken, onOff: (reason) => this.off(reason) });
        this.id = id;
        return;
      } catch (error) {
        this.logger.warn({ err: error }, 'the worker of local jobs is not started yet');
        await sleep(AGAIN_MS, { unref: true });
      }
    }
  }

  private off(reason: string): undefined {
    this.metrics.isolation('off');
    this.logger.error(`local sites are off: ${reason}`);
  }

  /** States of what it holds; while nobody can say it may hold anything. */
  private async held(id: string): Promise<string[]> {
    const held = this.dispatch.heldStates(executorOf({ id, site: null }));
    return held.then(
      (jobs) => jobs.map(({ status }) => status),
      () => ['unknown'],
    );
  }

  /** Runs whose claim was noted with the boot of the machine: a service of an earlier release has begun them itself. */
  private async taken(id: string): Promise<TakenRun[]> {
    const held = await this.dispatch.held(executorOf({ id, site: null }));
    return held.flatMap((job) => {
      const { reference } = job;
      if (job.status === 'Matched' || reference === null || isOfWorker(reference)) return [];
      return [{ claimed: knownRun(job), boot: reference }];
    });
  }
}
