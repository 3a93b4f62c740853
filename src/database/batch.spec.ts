import { describe, expect, it } from '@jest/globals';
import { BoundedQueue, currentCaller, Problem, runFor } from '#src/kernel/index.js';
import { batched } from './batch.js';

function queueOf({ permits = 1, maxWaitMs = 25_000 } = {}): BoundedQueue {
  const refusal = (): Problem => new Problem('service.overloaded', 'Nothing became free in time');
  return new BoundedQueue({ permits, maxWaiting: Infinity, maxWaitMs: () => maxWaitMs, refusal });
}

/** Reads of numbers below 1,000, and what was asked in which statement; statements end when they are let. */
function reads(queue = queueOf()) {
  const statements: number[][] = [];
  const ends: (() => void)[] = [];
  const get = batched<number, string>(queue, async (keys) => {
    statements.push(keys);
    await new Promise<void>((resolve) => ends.push(resolve));
    if (keys.includes(-1)) throw new Error('out of range');
    if (keys.includes(-2)) throw Problem.unavailable('The database is away');
    return new Map(keys.filter((key) => key < 1_000).map((key) => [key, `row ${key}`]));
  });
  const end = async (): Promise<void> => {
    while (ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
    ends.shift()?.();
  };
  return { get, statements, end };
}

describe('reads that come together', () => {
  it('are one statement, each key once, and nothing where there is no row', async () => {
    const { get, statements, end } = reads();
    const asked = [1, 2, 1, 1_000].map((key) => get(key));
    await end();
    expect(await Promise.all(asked)).toEqual(['row 1', 'row 2', 'row 1', undefined]);
    expect(statements).toEqual([[1, 2, 1_000]]);
  });

  it('wait for the next statement while one is under way: none is answered from before its question', async () => {
    const { get, statements, end } = reads();
    const first = get(1);
    while (statements.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const later = [get(1), get(2)];
    await end();
    await first;
    await end();
    expect(await Promise.all(later)).toEqual(['row 1', 'row 2']);
    expect(statements).toEqual([[1], [1, 2]]);
  });

  it('are at most 200 in a statement', async () => {
    const { get, statements, end } = reads(queueOf({ permits: 2 }));
    const all = Promise.all(Array.from({ length: 250 }, (_, key) => get(key)));
    await end();
    await end();
    expect([(await all).length, statements.map(({ length }) => length)]).toEqual([250, [200, 50]]);
  });

  it('are asked alone after a fault that one of them may have caused', async () => {
    const { get, statements, end } = reads();
    const [good, bad] = [get(1), get(-1)];
    const refused = expect(bad).rejects.toThrow('out of range');
    for (let statement = 0; statement < 3; statement += 1) await end();
    expect(await good).toBe('row 1');
    await refused;
    expect(statements).toEqual([[1, -1], [1], [-1]]);
  });

  it('are all refused while the database is away', async () => {
    const { get, statements, end } = reads();
    const asked = [get(1), get(-2)];
    const refused = Promise.all(
      asked.map((one) => expect(one).rejects.toMatchObject({ code: 'service.unavailable' })),
    );
    await end();
    await refused;
    expect(statements).toEqual([[1, -2]]);
  });

  it('are refused when no permit becomes free in time, and go on afterwards', async () => {
    const { get, statements, end } = reads(queueOf({ maxWaitMs: 20 }));
    const first = get(1);
    while (statements.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await expect(get(2)).rejects.toMatchObject({ code: 'service.overloaded' });
    await end();
    await first;
    const next = get(3);
    await end();
    expect(await next).toBe('row 3');
  });
});

describe('what is batched', () => {
  it('counts for none of its callers', async () => {
    const callers: unknown[] = [];
    const get = batched<number, string>(queueOf(), (keys) => {
      callers.push(currentCaller());
      return Promise.resolve(new Map(keys.map((key) => [key, 'row'])));
    });
    const caller = {
      ...{ key: 'alice', hasBegun: false, mayChange: true, uses: 0, permits: [] },
      signal: new AbortController().signal,
    };
    await runFor(caller, async () => {
      await get(1);
      expect(currentCaller()).toBe(caller);
    });
    expect(callers).toEqual([undefined]);
  });
});

describe('writes that come together', () => {
  /** Writes of names, and what was written in which statement; `bad` fails, `away` finds no database. */
  function writes() {
    const statements: string[][] = [];
    const write = batched<{ name: string }, number>(queueOf(), async (items) => {
      const names = items.map(({ name }) => name);
      statements.push(names);
      await Promise.resolve();
      if (names.includes('bad')) throw new Error('refused');
      if (names.includes('away')) throw Problem.unavailable('The database is away');
      return new Map(items.map((item, index) => [item, index]));
    });
    const all = (...names: string[]) => Promise.allSettled(names.map((name) => write({ name })));
    return { all, statements };
  }

  it('are one statement, and equal ones are not one', async () => {
    const { all, statements } = writes();
    expect(await all('a', 'b', 'a')).toEqual(
      [0, 1, 2].map((value) => ({ status: 'fulfilled', value })),
    );
    expect(statements).toEqual([['a', 'b', 'a']]);
  });

  it('are written each alone when one of them makes the statement fail', async () => {
    const { all, statements } = writes();
    expect(await all('a', 'bad', 'b')).toEqual([
      { status: 'fulfilled', value: 0 },
      { status: 'rejected', reason: new Error('refused') },
      { status: 'fulfilled', value: 0 },
    ]);
    expect(statements).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']]);
  });

  it('are not written again when nobody knows what became of them', async () => {
    const { all, statements } = writes();
    const answers = await all('a', 'away');
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(statements).toEqual([['a', 'away']]);
  });
});
