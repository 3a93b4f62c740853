import { describe, expect, it } from '@jest/globals';
import { BoundedQueue, BoundedQueues, type QueueBounds } from './bounded-queue.js';

const BOUNDS: QueueBounds = {
  permits: 1,
  maxWaiting: 4,
  maxWaitMs: () => 25_000,
  refusal: (reason) => new Error(reason),
};

describe('BoundedQueue', () => {
  it('gives so many permits, and the next ones in the order of asking', async () => {
    const queue = new BoundedQueue({ ...BOUNDS, permits: 2 });
    const order: number[] = [];
    const asked = [0, 1, 2, 3].map((n) => queue.acquire().then(() => order.push(n)));
    await Promise.all(asked.slice(0, 2));
    expect([queue.running, queue.waiting, order]).toEqual([2, 2, [0, 1]]);
    queue.release();
    expect(queue.tryAcquire()).toBe(false);
    queue.release();
    await Promise.all(asked);
    expect([queue.running, queue.waiting, order]).toEqual([2, 0, [0, 1, 2, 3]]);
    queue.release();
    queue.release();
    expect(queue.running).toBe(0);
  });

  it('refuses at once when too many wait', async () => {
    const queue = new BoundedQueue({ ...BOUNDS, maxWaiting: 1 });
    await queue.acquire();
    const waiting = queue.acquire();
    await expect(queue.acquire()).rejects.toThrow('queue-full');
    queue.release();
    await waiting;
  });

  it('refuses who has waited too long, and keeps no trace of it', async () => {
    const queue = new BoundedQueue({ ...BOUNDS, maxWaitMs: () => 5 });
    await queue.acquire();
    await expect(queue.acquire()).rejects.toThrow('time-out');
    expect(queue.waiting).toBe(0);
    queue.release();
    expect(queue.running).toBe(0);
  });

  it('lets go who wants no permit any more', async () => {
    const queue = new BoundedQueue(BOUNDS);
    await queue.acquire();
    const leaving = new AbortController();
    const waiting = queue.acquire(leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(queue.acquire(leaving.signal)).rejects.toThrow('gone');
    expect(queue.waiting).toBe(0);
  });

  it('gives a permit first to who has begun, and without an end of waiting', async () => {
    const queue = new BoundedQueue({ ...BOUNDS, maxWaiting: 1 });
    await queue.acquireFirst();
    const order: string[] = [];
    const waiting = [
      queue.acquire().then(() => order.push('new')),
      queue.acquireFirst().then(() => order.push('begun')),
    ];
    expect(queue.waiting).toBe(2);
    queue.release();
    queue.release();
    await Promise.all(waiting);
    expect(order).toEqual(['begun', 'new']);
  });

  it('refuses all that wait when it is told to', async () => {
    const queue = new BoundedQueue(BOUNDS);
    await queue.acquire();
    const waiting = Promise.allSettled([queue.acquire(), queue.acquireFirst()]);
    queue.refuseWaiting(new Error('silent'));
    expect(await waiting).toEqual(
      [1, 2].map(() => ({ status: 'rejected', reason: new Error('silent') })),
    );
  });

  it('gives the permit of failed work back', async () => {
    const queue = new BoundedQueue(BOUNDS);
    await expect(queue.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await queue.run(() => Promise.resolve(queue.running))).toBe(1);
    expect(queue.running).toBe(0);
  });
});

describe('BoundedQueues', () => {
  it('keep the keys apart and forget idle ones', async () => {
    const queues = new BoundedQueues(BOUNDS);
    const busy = queues.of('busy');
    await busy.acquire();
    const waiting = busy.acquire();
    const idle = queues.of('idle');
    expect([queues.of('idle') === idle, idle.tryAcquire()]).toEqual([true, true]);
    expect([queues.running, queues.waiting]).toEqual([2, 1]);
    idle.release();
    for (let n = 0; n < 1_000; n += 1) queues.of(String(n));
    expect([queues.of('busy') === busy, queues.of('idle') === idle]).toEqual([true, false]);
    queues.refuseWaiting(new Error('silent'));
    await expect(waiting).rejects.toThrow('silent');
  });
});
