import { Inject, Injectable } from '@nestjs/common';
import { Problem, runForAll, sleep, type Clock, CLOCK } from '#src/kernel/index.js';
import type { Transaction } from '#src/database/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import { JobsRepository, type Move } from '../state/jobs.repository.js';

interface Report {
  move: Move;
  resolve: (moved: boolean) => void;
  reject: (error: unknown) => void;
}

const BATCH = 500;
const RETRY_MS = 300;

/**
 * Moves that executors report, written together: while one batch is on its way to the database the next one
 * gathers, so that many short jobs cost few statements. While the database is away reports wait; nothing is lost.
 * A batch has one move of a job: the next is judged by what the first has made of it.
 */
@Injectable()
export class RunReports {
  private queue: Report[] = [];
  private writing: Promise<void> | undefined;
  private isClosed = false;

  constructor(
    private readonly repository: JobsRepository,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Writes a move; false when the job was not (any more) where the move starts, or not held by the reporter. */
  async report(move: Move): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.queue.push({ move, resolve, reject });
      // The one loop serves all callers: it is nobody's request.
      this.writing ??= runForAll(() => this.writeAll());
    });
  }

  /** Writes a move in a transaction of somebody else; false as `report`. */
  async write(move: Move, transaction: Transaction): Promise<boolean> {
    const moved = await this.repository.move([move], new Date(this.clock.now()), transaction);
    return moved.length > 0;
  }

  /** Writes what has gathered and then refuses; reports that cannot be written are left to the next start. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.writing;
  }

  private async writeAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.queue.length > 0) {
      const batch = this.nextBatch();
      try {
        const moves = batch.map(({ move }) => move);
        const moved = new Set(
          (await this.repository.move(moves, new Date(this.clock.now()))).map(String),
        );
        for (const { move, resolve } of batch) resolve(moved.has(String(move.jid)));
      } catch (error) {
        await this.afterFault(batch, error);
      }
    }
    this.writing = undefined;
  }

  private nextBatch(): Report[] {
    const jobs = new Set<string>();
    const batch: Report[] = [];
    const later: Report[] = [];
    for (const report of this.queue.splice(0, BATCH)) {
      const jid = String(report.move.jid);
      (jobs.has(jid) ? later : batch).push(report);
      jobs.add(jid);
    }
    this.queue.unshift(...later);
    return batch;
  }

  private async afterFault(batch: Report[], error: unknown): Promise<void> {
    if (!this.isClosed && error instanceof Problem && error.code === 'service.unavailable') {
      this.queue.unshift(...batch);
      await sleep(RETRY_MS, { unref: true });
      return;
    }
    if (batch.length > 1 && !this.isClosed) {
      for (const { move, resolve, reject } of batch) {
        await this.repository
          .move([move], new Date(this.clock.now()))
          .then((moved) => resolve(moved.length > 0), reject);
      }
      return;
    }
    this.logger.error({ err: error }, 'a report of a job cannot be written');
    for (const { reject } of batch) reject(error);
  }
}
