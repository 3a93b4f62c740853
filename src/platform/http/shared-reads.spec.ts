import { describe, expect, it } from '@jest/globals';
import { SharedReads } from './shared-reads.js';

/** Reads that are counted; their answers are their numbers. */
function counted() {
  const shared = new SharedReads<number>();
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
    const shared = new SharedReads<string>();
    let end: (text: string) => void = () => undefined;
    const first = shared.get('a', () => new Promise((resolve) => (end = resolve)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await shared.get('a', () => Promise.resolve('second'))).toBe('second');
    end('first');
    expect(await first).toBe('first');
  });

  it('fail together', async () => {
    const shared = new SharedReads<string>();
    const fail = () => Promise.reject(new Error('away'));
    const answers = await Promise.allSettled([shared.get('a', fail), shared.get('a', fail)]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await shared.get('a', () => Promise.resolve('back'))).toBe('back');
  });

  it('wait for one turn together, and are asked by the next one when it does not come', async () => {
    const shared = new SharedReads<string>();
    const turns: string[] = [];
    let fail: (error: Error) => void = () => undefined;
    const asked = (name: string, turn: () => Promise<void>): Promise<string> =>
      shared.get(
        'a',
        () => Promise.resolve(name),
        () => {
          turns.push(name);
          return turn();
        },
      );
    const first = asked('first', () => new Promise((_resolve, reject) => (fail = reject)));
    await new Promise((resolve) => setImmediate(resolve));
    // The first one waits for its turn: what comes meanwhile waits with it.
    const second = asked('second', () => Promise.resolve());
    const third = asked('third', () => Promise.resolve());
    fail(new Error('no turn'));
    await expect(first).rejects.toThrow('no turn');
    expect(await Promise.all([second, third])).toEqual(['second', 'second']);
    expect(turns).toEqual(['first', 'second']);
  });
});
