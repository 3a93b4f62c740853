import { describe, expect, it } from '@jest/globals';
import { runFor, runForAll, type Caller } from '#src/kernel/index.js';
import { ConnectionPermits, type PermitLimits } from './connection-permits.js';

const LIMITS = { connections: 3, maxWaiting: 4, maxWaitMs: 25_000, maxWaitWhileSilentMs: 20 };

function permitsOf(change: Partial<PermitLimits> = {}): ConnectionPermits {
  return new ConnectionPermits({ ...LIMITS, ...change });
}

function callerOf(key: string, signal = new AbortController().signal): Caller {
  return { key, hasBegun: false, mayChange: true, uses: 0, permits: [], signal };
}

describe('ConnectionPermits', () => {
  it('leave one connection to statements, so that work inside a session gets on', async () => {
    const permits = permitsOf();
    const [session] = await Promise.all([permits.acquire('session'), permits.acquire('session')]);
    const third = permits.acquire('session');
    const statement = await permits.acquire('statement');
    expect([permits.busy, permits.waiting]).toEqual([3, 1]);
    statement();
    expect([permits.busy, permits.waiting]).toEqual([2, 1]);
    session?.();
    await third;
    expect([permits.busy, permits.waiting]).toEqual([2, 0]);
  });

  it('leave nothing behind of a session that gets no connection', async () => {
    const permits = permitsOf({ maxWaiting: 0 });
    const all = await Promise.all([1, 2, 3].map(() => permits.acquire('statement')));
    const refused = runFor(callerOf('alice'), () => permits.acquire('session'));
    await expect(refused).rejects.toMatchObject({
      code: 'service.overloaded',
      detail: 'Too many requests at once',
      retryAfterSeconds: 1,
    });
    expect([permits.waiting, permits.waitingForCaller]).toEqual([0, 0]);
    for (const release of all) release();
    const sessions = await Promise.all([1, 2].map(() => permits.acquire('session')));
    expect(permits.busy).toBe(2);
    for (const release of sessions) release();
    expect(permits.busy).toBe(0);
  });

  it('let the service itself wait, however many requests do', async () => {
    const permits = permitsOf({ connections: 1, maxWaiting: 0 });
    const release = await permits.acquire('statement');
    const own = permits.acquire('statement');
    await new Promise((resolve) => setImmediate(resolve));
    expect(permits.waiting).toBe(1);
    release();
    await own;
  });

  it('refuse who has waited too long', async () => {
    const permits = permitsOf({ connections: 1, maxWaitMs: 5 });
    await permits.acquire('statement');
    await expect(permits.acquire('statement')).rejects.toMatchObject({
      code: 'service.overloaded',
      detail: 'No connection became free in time',
    });
    expect([permits.busy, permits.waiting]).toEqual([1, 0]);
  });

  it('refuse all who wait when the database does not answer, and later ones soon', async () => {
    const permits = permitsOf({ connections: 1 });
    const release = await permits.acquire('statement');
    const shared = permits.queue(1);
    await shared.acquire();
    const caller = callerOf('alice');
    await runFor(caller, () => permits.acquireOfCaller());
    const waiting = [
      permits.acquire('session'),
      shared.acquire(),
      runFor(callerOf('alice'), () => permits.acquire('statement')),
    ];
    const refused = Promise.all(
      waiting.map((one) => expect(one).rejects.toMatchObject({ code: 'service.unavailable' })),
    );
    permits.setSilent(true);
    await refused;
    await expect(permits.acquire('statement')).rejects.toMatchObject({
      code: 'service.unavailable',
    });
    permits.setSilent(false);
    const patient = permits.acquire('statement');
    release();
    await patient;
  });
});

describe('permits of one caller', () => {
  const limits = { connections: 8 };

  it('are for a quarter of the connections, for all their requests together', async () => {
    const permits = permitsOf(limits);
    const all = [1, 2, 3].map(() => runFor(callerOf('alice'), () => permits.acquire('statement')));
    const [first] = await Promise.all(all.slice(0, 2));
    expect([permits.busy, permits.waiting, permits.waitingForCaller]).toEqual([2, 0, 1]);
    await runFor(callerOf('bob'), () => permits.acquire('statement'));
    await permits.acquire('statement'); // of the service itself
    expect(permits.busy).toBe(4);
    first?.();
    await all[2];
    expect([permits.busy, permits.waitingForCaller]).toEqual([4, 0]);
  });

  it('are taken once by a request: what it does beside a session waits for nobody of the caller', async () => {
    const permits = permitsOf(limits);
    const [one, other] = [callerOf('alice'), callerOf('alice')];
    const sessions = [one, other].map((caller) => runFor(caller, () => permits.acquire('session')));
    const [first] = await Promise.all(sessions);
    const beside = await runFor(one, () => permits.acquire('statement'));
    expect([permits.busy, permits.waitingForCaller]).toEqual([3, 0]);
    beside();
    first?.();
    const next = await runFor(one, () => permits.acquireOfCaller());
    expect([permits.busy, one.uses]).toEqual([1, 1]);
    next();
    expect(one.uses).toBe(0);
  });

  it('are kept as long as one use of the request lasts', async () => {
    const permits = permitsOf({ connections: 4 });
    const caller = callerOf('alice');
    const [first, second] = await runFor(caller, async () => [
      await permits.acquire('statement'),
      await permits.acquire('session'),
    ]);
    const other = runFor(callerOf('alice'), () => permits.acquire('statement'));
    first?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(permits.waitingForCaller).toBe(1);
    second?.();
    (await other)();
    expect([permits.busy, permits.waitingForCaller]).toEqual([0, 0]);
  });

  it('are not needed by work for all', async () => {
    const permits = permitsOf({ connections: 4 });
    await runFor(callerOf('alice'), () => permits.acquire('statement'));
    await runFor(callerOf('alice'), () => runForAll(() => permits.acquire('statement')));
    expect(permits.busy).toBe(2);
  });

  it('are given to a request that has begun before others, though its client is gone and it waits long', async () => {
    const permits = permitsOf({ connections: 4, maxWaitMs: 5 });
    const client = new AbortController();
    const begun = callerOf('alice', client.signal);
    (await runFor(begun, () => permits.acquire('session')))();
    const other = await runFor(callerOf('alice'), () => permits.acquire('statement'));
    client.abort(new Error('gone'));
    const next = runFor(begun, () => permits.acquire('session'));
    const order: string[] = [];
    const both = [
      runFor(callerOf('alice'), () => permits.acquire('statement')).catch(() => order.push('late')),
      next.then((release) => (order.push('begun'), release())),
    ];
    await both[0];
    other();
    await both[1];
    expect([order, permits.busy]).toEqual([['late', 'begun'], 0]);
  });

  it('are not waited for by a request whose client is gone', async () => {
    const permits = permitsOf(limits);
    for (let n = 0; n < 2; n += 1) {
      await runFor(callerOf('alice'), () => permits.acquire('statement'));
    }
    const client = new AbortController();
    const waiting = runFor(callerOf('alice', client.signal), () => permits.acquire('session'));
    client.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect([permits.busy, permits.waitingForCaller]).toEqual([2, 0]);
  });

  it('are refused in time with the reason', async () => {
    const permits = permitsOf({ ...limits, maxWaitMs: 5 });
    const ask = () => runFor(callerOf('alice'), () => permits.acquire('statement'));
    await Promise.all([ask(), ask()]);
    await expect(ask()).rejects.toMatchObject({
      code: 'service.overloaded',
      detail: 'Other requests of yours use what one caller may have of the database',
      retryAfterSeconds: 1,
    });
  });
});
