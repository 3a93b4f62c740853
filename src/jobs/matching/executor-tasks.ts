import { Inject, Injectable } from '@nestjs/common';
import { randomId } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { RunningTask } from '#src/runtime/index.js';
import type { Executor } from '../run/executor.js';
import { DispatchRepository } from './dispatch.repository.js';
import { DispatchTasks } from './dispatch-tasks.js';
import { Matcher } from './matcher.js';

/** Keeps open executors busy and their heartbeats fresh. */
@Injectable()
export class ExecutorTasks {
  /** Names this instance beside its executors. */
  readonly instance = randomId();
  private readonly tasksOf = new Map<Executor, RunningTask[]>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly repository: DispatchRepository,
    private readonly matcher: Matcher,
    private readonly tasks: DispatchTasks,
  ) {}

  start(executor: Executor): void {
    const beatMs = Math.max(1_000, (this.config.jobLease * 1000) / 4);
    const { backend, id } = executor;
    const name = id.startsWith(backend) ? id : backend;
    let isReconciled = false;
    // Nothing is claimed before the runs of a predecessor are found again, and at once when they are.
    const claim = this.tasks.seek(`claim ${name}`, async () =>
      isReconciled ? this.claim(executor) : false,
    );
    const beat = this.tasks.repeat(`heartbeat ${name}`, () => this.heartbeat(executor), beatMs);
    const reconcile = this.tasks.repeat(`reconcile ${name}`, async () => {
      await executor.reconcile(await this.repository.held(executor.id));
      if (isReconciled) return;
      isReconciled = true;
      claim.wake();
    });
    executor.onFree = () => claim.wake();
    this.tasksOf.set(executor, [claim, beat, reconcile]);
  }

  /** Resolves when nothing is asked of the executor any more. */
  async stop(executor: Executor): Promise<void> {
    await Promise.all((this.tasksOf.get(executor) ?? []).map((task) => this.tasks.end(task)));
    this.tasksOf.delete(executor);
  }

  private async heartbeat(executor: Executor): Promise<void> {
    await this.repository.recordHeartbeat(executor, this.instance);
    const olderThan = new Date(Date.now() - Math.max(30_000, this.config.jobLease * 1000));
    await this.repository.recordJobHeartbeats(executor.id, olderThan);
  }

  /** Fills the free places of an executor; true when there may be more to claim. */
  private async claim(executor: Executor): Promise<boolean> {
    const { orders, hasMore } = await this.matcher.claim(executor);
    if (orders.length > 0) executor.start(orders);
    return hasMore && executor.freeSlots() > 0;
  }
}
