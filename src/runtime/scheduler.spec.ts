import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Problem } from '#src/kernel/index.js';
import type { Database, Transaction } from '#src/database/database.js';
import type { Logger } from './logger.js';
import { Scheduler, type ScheduledTask, type TaskOutcome } from './scheduler.js';

/** A scheduler over a database whose lock is free or not, and its log. */
function setUp(isFree = true) {
  const log: [string, string][] = [];
  const transaction = {
    query: () => Promise.resolve([{ got: isFree }]),
  } as unknown as Transaction;
  const database = {
    transaction: (work: (inside: Transaction) => unknown) => work(transaction),
  } as unknown as Database;
  const level =
    (name: string) =>
    ({ task }: { task: string }): void =>
      void log.push([name, task]);
  const logger = { debug: level('debug'), error: level('error') } as unknown as Logger;
  const timers = new SchedulerRegistry();
  const scheduler = new Scheduler(timers, database, logger);
  return { scheduler, timers, log, transaction };
}

function counting(task: Partial<ScheduledTask> = {}) {
  const rounds: number[] = [];
  const run = (): Promise<void> => Promise.resolve(void rounds.push(Date.now()));
  return { rounds, task: { name: 'count', everyMs: 1000, jitter: 0, run, ...task } };
}

describe('a scheduled task', () => {
  beforeEach(() => void jest.useFakeTimers({ now: 0 }));
  afterEach(() => void jest.useRealTimers());

  it('is done first after its first pause and then again and again', async () => {
    const { scheduler } = setUp();
    const { rounds, task } = counting({ firstMs: 10 });
    scheduler.add(task);
    await jest.advanceTimersByTimeAsync(2010);
    expect(rounds).toEqual([10, 1010, 2010]);
    await scheduler.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(5000);
    expect([rounds.length, jest.getTimerCount()]).toEqual([3, 0]);
  });

  it('is not put off by being woken again and again', async () => {
    const { scheduler, timers } = setUp();
    const { rounds, task } = counting();
    const running = scheduler.add(task);
    running.wake();
    const soon: unknown = timers.getTimeout('count');
    running.wake();
    expect(timers.getTimeout('count')).toBe(soon);
    await jest.advanceTimersByTimeAsync(1);
    expect(rounds).toHaveLength(1);
    running.wake();
    await jest.advanceTimersByTimeAsync(1);
    expect(rounds).toHaveLength(2);
    await scheduler.onModuleDestroy();
  });

  it('varies its pauses by its jitter both ways', async () => {
    const { scheduler } = setUp();
    const { rounds, task } = counting({ jitter: 0.5 });
    scheduler.add(task);
    await jest.advanceTimersByTimeAsync(200_000);
    const pauses = rounds.map((at, index) => at - (rounds[index - 1] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1501);
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(500);
    await scheduler.onModuleDestroy();
  });

  it('comes at once when there is more or it is woken, and sooner or later after a failure', async () => {
    const { scheduler, log } = setUp();
    const outcomes: (TaskOutcome | Error)[] = [
      'more',
      undefined,
      'retry',
      new Error('broken'),
      Problem.unavailable('away'),
    ];
    const { rounds, task } = counting({ firstMs: 0, retryMs: 50 });
    const run = (): Promise<TaskOutcome> => {
      rounds.push(Date.now());
      const outcome = outcomes.shift();
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    };
    const running = scheduler.add({ ...task, run });
    await jest.advanceTimersByTimeAsync(1300);
    expect(rounds).toEqual([0, 0, 1000, 1050, 1100, 1150].map((at) => expect.closeTo(at, -1)));
    expect(log).toEqual([
      ['error', 'count'],
      ['debug', 'count'],
    ]);
    running.wake();
    await jest.advanceTimersByTimeAsync(1);
    expect(rounds).toHaveLength(7);
    await scheduler.onModuleDestroy();
  });

  it('can be run now, one round at a time, without waiting', async () => {
    const { scheduler } = setUp();
    let under = 0;
    let most = 0;
    const run = async (): Promise<'retry'> => {
      most = Math.max(most, (under += 1));
      await Promise.resolve();
      under -= 1;
      return 'retry';
    };
    scheduler.add({ name: 'one', everyMs: 1000, run });
    const task = scheduler.get('one');
    expect(await Promise.all([task?.runNow(), task?.runNow()])).toEqual(['retry', 'retry']);
    expect(most).toBe(1);
    await scheduler.onModuleDestroy();
  });

  it('ends when it is stopped, and tells the round under way', async () => {
    const { scheduler } = setUp();
    const ends: string[] = [];
    const run = ({ signal }: { signal: AbortSignal }): Promise<void> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ends.push((signal.reason as Error).message);
          resolve();
        });
      });
    const task = scheduler.add({ name: 'long', everyMs: 10, firstMs: 0, run });
    await jest.advanceTimersByTimeAsync(5);
    await task.stop();
    expect([ends, scheduler.get('long'), jest.getTimerCount()]).toEqual([
      ['stopped'],
      undefined,
      0,
    ]);
  });

  it('with a lock has its transaction, and is left out while another instance holds it', async () => {
    const done: unknown[] = [];
    const task: ScheduledTask = {
      name: 'alone',
      everyMs: 1000,
      lock: 'cleaning',
      run: ({ transaction }) => Promise.resolve(void done.push(transaction)),
    };
    const free = setUp();
    await free.scheduler.add(task).runNow();
    const held = setUp(false);
    await held.scheduler.add(task).runNow();
    expect(done).toEqual([free.transaction]);
    await Promise.all([free.scheduler.onModuleDestroy(), held.scheduler.onModuleDestroy()]);
  });

  it('without a lock has no transaction, and names are unique', async () => {
    const { scheduler } = setUp();
    const run = ({ transaction }: { transaction: Transaction }): Promise<void> =>
      transaction.execute({ text: '' }).then(() => undefined);
    const task = { name: 'none', everyMs: 1000, run };
    const running = scheduler.add(task);
    await expect(running.runNow()).rejects.toThrow('a task without a lock has no transaction');
    expect(() => scheduler.add(task)).toThrow('there is a task none already');
    await scheduler.onModuleDestroy();
  });
});
