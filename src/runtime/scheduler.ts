import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Problem, runForAll } from '#src/kernel/index.js';
import {
  withAdvisoryLock,
  Database,
  type Transaction,
  type AdvisoryLock,
} from '#src/database/index.js';
import { LOGGER, type Logger } from './logger.js';

/** Share of a pause by which it varies both ways, so that instances do not march in step. */
const JITTER = 0.1;

/** What a round of a task gets. */
export interface TaskRound {
  /** Aborts when the task is stopped. */
  signal: AbortSignal;
  /** The transaction that holds the lock of the task; only for a task with a lock. */
  transaction: Transaction;
}

/** What follows a round: the next at once, the pause after a failure, or, for undefined, the ordinary pause. */
export type TaskOutcome = 'more' | 'retry' | undefined;

/** Work that is done again and again. */
export interface ScheduledTask {
  /** In logs; unique in a process. */
  name: string;
  /** From the end of a round to the beginning of the next, in milliseconds. */
  everyMs: number;
  /** Before the first round; `everyMs` unless said otherwise. */
  firstMs?: number;
  /** After a round that failed or says `retry`; `everyMs` unless said otherwise. */
  retryMs?: number;
  /** Share of each pause by which it varies both ways; 0.1 unless said otherwise. */
  jitter?: number;
  /** Held during a round: of all instances one does it, the others leave this round out. */
  lock?: AdvisoryLock;
  run(round: TaskRound): Promise<TaskOutcome | void>;
}

/** A task under way. */
export interface RunningTask {
  /** The next round begins at once, after the one under way. */
  wake(): void;
  /** Does a round now, after the one under way; for tests and commands. Throws what the round throws. */
  runNow(): Promise<TaskOutcome>;
  /** No further round; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/**
 * The background work of the service: modules add their tasks when they start, and all end when the application does. A round
 * that fails is logged, and the next one comes; an unavailable database is no news, it is reported elsewhere. The timers
 * never keep a process alive.
 */
@Injectable()
export class Scheduler implements OnModuleDestroy {
  private readonly tasks = new Map<string, Task>();

  constructor(
    private readonly timers: SchedulerRegistry,
    private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Begins a task. Throws for a name that is taken. */
  add(task: ScheduledTask): RunningTask {
    if (this.tasks.has(task.name)) throw new Error(`there is a task ${task.name} already`);
    const started = new Task(task, {
      timers: this.timers,
      database: this.database,
      logger: this.logger,
      ended: () => void this.tasks.delete(task.name),
    });
    this.tasks.set(task.name, started);
    return started;
  }

  /** A task by its name; undefined when there is none. */
  get(name: string): RunningTask | undefined {
    return this.tasks.get(name);
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.tasks.values()].map((task) => task.stop()));
  }
}

interface TaskParts {
  timers: SchedulerRegistry;
  database: Database;
  logger: Logger;
  ended: () => void;
}

class Task implements RunningTask {
  private readonly stopSignal = new AbortController();
  private round: Promise<TaskOutcome> | undefined;
  private isWoken = false;

  constructor(
    private readonly task: ScheduledTask,
    private readonly parts: TaskParts,
  ) {
    this.wait(task.firstMs ?? task.everyMs);
  }

  wake(): void {
    if (this.isWoken) return; // it comes already: put off by every further wish it might never
    this.isWoken = true;
    if (this.round === undefined) this.wait(0);
  }

  async runNow(): Promise<TaskOutcome> {
    await this.round?.catch(() => undefined);
    try {
      return await this.begin();
    } finally {
      if (this.isWoken) this.wait(0);
    }
  }

  async stop(): Promise<void> {
    this.stopSignal.abort(new Error('stopped'));
    this.clear();
    this.parts.ended();
    await this.round?.catch(() => undefined);
  }

  private wait(pauseMs: number): void {
    this.clear();
    if (this.stopSignal.signal.aborted) return;
    const { jitter = JITTER, name } = this.task;
    const varied = pauseMs * (1 - jitter + 2 * jitter * Math.random());
    this.parts.timers.addTimeout(
      name,
      setTimeout(() => void runForAll(() => this.turn()), varied).unref(),
    );
  }

  private clear(): void {
    const { name } = this.task;
    if (this.parts.timers.doesExist('timeout', name)) this.parts.timers.deleteTimeout(name);
  }

  private async turn(): Promise<void> {
    const { everyMs, retryMs = everyMs } = this.task;
    this.isWoken = false;
    let outcome: TaskOutcome;
    try {
      outcome = await this.begin();
    } catch (error) {
      this.note(error);
      outcome = 'retry';
    }
    const pauses = { more: 0, retry: retryMs };
    this.wait(this.isWoken ? 0 : outcome === undefined ? everyMs : pauses[outcome]);
  }

  /** One round at a time. */
  private begin(): Promise<TaskOutcome> {
    this.round ??= runForAll(() => this.once()).finally(() => (this.round = undefined));
    return this.round;
  }

  private async once(): Promise<TaskOutcome> {
    const { signal } = this.stopSignal;
    const { lock } = this.task;
    const work = async (transaction: Transaction): Promise<TaskOutcome> =>
      (await this.task.run({ signal, transaction })) ?? undefined;
    if (lock !== undefined) return withAdvisoryLock(this.parts.database, lock, work);
    return work(NO_TRANSACTION);
  }

  private note(error: unknown): void {
    const isAway = error instanceof Problem && error.status === 503;
    const level = isAway || this.stopSignal.signal.aborted ? 'debug' : 'error';
    this.parts.logger[level]({ err: error, task: this.task.name }, 'background work failed');
  }
}

/** What a task without a lock gets for its transaction. */
const NO_TRANSACTION = new Proxy({} as Transaction, {
  get() {
    throw new Error('a task without a lock has no transaction');
  },
});
