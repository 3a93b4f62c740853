import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import { EXECUTOR_SOURCE, EXECUTORS, type Executor, type ExecutorSource } from '../run/executor.js';
import { DispatchRepository } from './dispatch.repository.js';
import { DispatchTasks } from './dispatch-tasks.js';
import { ExecutorTasks } from './executor-tasks.js';
import { PlaceFollower } from './place-follower.js';

/** The executors that this instance has opened. */
@Injectable()
export class OpenExecutors {
  /** Those that are open now; always the same list. */
  readonly list: Executor[] = [];
  private follower: PlaceFollower | undefined;

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(EXECUTORS) private readonly executors: readonly Executor[],
    @Inject(EXECUTOR_SOURCE) private readonly source: ExecutorSource,
    private readonly repository: DispatchRepository,
    private readonly tasks: DispatchTasks,
    private readonly work: ExecutorTasks,
  ) {}

  /** Opens those that are always there. */
  async open(): Promise<void> {
    for (const executor of this.executors) {
      if (await executor.open()) this.list.push(executor);
    }
  }

  /** Gives them work, and follows those that come and go. */
  start(): void {
    for (const executor of this.list) this.work.start(executor);
    this.followPlaces();
  }

  /** Opens no more. */
  stop(): void {
    this.follower?.stop();
  }

  async close(): Promise<void> {
    await Promise.all(this.list.splice(0).map((executor) => executor.close()));
  }

  /** Executors that come and go: what they do, and that they end, concerns no other one. */
  private followPlaces(): void {
    const { source, repository, logger } = this;
    const { instance } = this.work;
    this.follower = new PlaceFollower(
      { source, repository, logger, instance },
      {
        started: (executor) => {
          this.list.push(executor);
          this.work.start(executor);
        },
        stopped: async (executor) => {
          const place = this.list.indexOf(executor);
          if (place >= 0) this.list.splice(place, 1);
          await this.work.stop(executor);
          await executor.close();
        },
      },
    );
    const follower = this.follower;
    this.tasks.repeat('places', () => follower.look());
  }
}
