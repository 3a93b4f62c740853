import { describe, expect, it } from '@jest/globals';
import { SharedReads } from './shared-reads.js';

/** Everybody may ask at once. */
const FREE = { acquireOfCaller: () => Promise.resolve(() => undefined) };

/** Reads that are counted; their answers are their numbers. */
function counted() {
  const shared = new SharedReads<number>(FREE);
  let asked = 0;
  const ask = async (): Promise<number> => {
    asked += 1;
    return Promise.resolve(asked);
  };
  return { get: (key: string) => shared.get(key, ask), asked: () => asked };
}

describe('questions that come together', () => {
  it('are asked once when they are equal', async () => {
    const { get, asked } = counted();
    expect(await Promise.all([get('a'), get('b'), get('a')])).toEqual([1, 2, 1]);
    expect(asked()).toBe(2);
  });

  it('are asked again in a later turn: no answer is older than its question', async () => {
    const { get } = counted();
    expect(await get('a')).toBe(1);
    expect(await get('a')).toBe(2);
  });

  it('are not answered by what was asked before them, although that is still under way', async () => {
    const shared = new SharedReads<string>(FREE);
    let end: (text: string) => void = () => undefined;
    const first = shared.get('a', () => new Promise((resolve) => (end = resolve)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await shared.get('a', () => Promise.resolve('second'))).toBe('second');
    end('first');
    expect(await first).toBe('first');
  });

  it('fail together', async () => {
    const shared = new SharedReads<string>(FREE);
    const fail = () => Promise.reject(new Error('away'));
    const answers = await Promise.allSettled([shared.get('a', fail), shared.get('a', fail)]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await shared.get('a', () => Promise.resolve('back'))).toBe('back');
  });

  it('wait for one permit together, and are asked by the next one when it is not given', async () => {
    const [refuse, asked]: [((error: Error) => void)[], string[]] = [[], []];
    const shared = new SharedReads<string>({
      acquireOfCaller: () =>
        refuse.length > 0
          ? FREE.acquireOfCaller()
          : new Promise((_resolve, reject) => refuse.push(reject)),
    });
    const get = (name: string): Promise<string> =>
      shared.get('a', () => Promise.resolve(String(asked.push(name))));
    const first = get('first');
    await new Promise((resolve) => setImmediate(resolve));
    // The first one waits for its permit: what comes meanwhile waits with it.
    const others = [get('second'), get('third')];
    refuse[0]?.(new Error('no permit'));
    await expect(first).rejects.toThrow('no permit');
    expect(await Promise.all(others)).toEqual(['1', '1']);
    expect(asked).toEqual(['second']);
  });

  it('give the permit back', async () => {
    let given = 0;
    const shared = new SharedReads<string>({
      acquireOfCaller: () => Promise.resolve(() => void (given += 1)),
    });
    await shared.get('a', () => Promise.resolve('read'));
    await shared.get('a', () => Promise.reject(new Error('away'))).catch(() => undefined);
    expect(given).toBe(2);
  });
});
