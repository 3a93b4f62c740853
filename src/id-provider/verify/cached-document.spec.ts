import { CachedDocument, type FetchedDocument } from './cached-document.js';

function setUp(answers: (FetchedDocument<string> | Error)[]) {
  let now = 0;
  let fetches = 0;
  const document = new CachedDocument<string>({
    clock: { now: () => now },
    refreshSeconds: 1000,
    fetch: async () => {
      fetches += 1;
      await Promise.resolve();
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer as FetchedDocument<string>;
    },
  });
  return { document, pass: (seconds: number) => (now += seconds * 1000), count: () => fetches };
}

const away = new Error('away');

describe('CachedDocument', () => {
  it('one fetch serves all who ask meanwhile', async () => {
    const { document, count } = setUp([{ value: 'a' }]);
    expect(await Promise.all([document.current(), document.current(), document.refresh()])).toEqual(
      ['a', 'a', 'a'],
    );
    expect(count()).toBe(1);
  });

  it.each([
    ['its own rate', undefined, 1000],
    ["the server's word", 300, 300],
    ['at least 60 s', 0, 60],
    ['at most its own rate', 99_999, 1000],
  ])('is fresh for %s', async (_name, maxAgeSeconds, seconds) => {
    const { document, pass, count } = setUp([{ value: 'a', maxAgeSeconds }]);
    await document.current();
    pass(seconds - 1);
    await document.current();
    expect(count()).toBe(1);
    pass(1);
    await document.current();
    expect(count()).toBe(2);
  });

  it('spaces attempts from 1 s to 5 min apart while nothing can be fetched', async () => {
    const { document, pass, count } = setUp([away]);
    const attempts: number[] = [];
    for (let second = 0; second < 1200; second += 1) {
      const before = count();
      expect(await document.current()).toBeUndefined();
      if (count() > before) attempts.push(second);
      pass(1);
    }
    expect(attempts).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111]);
    expect(document.lastError).toBe(away);
  });

  it('serves an old copy for 7 days and recovers', async () => {
    const { document, pass } = setUp([{ value: 'a' }, away, { value: 'b' }]);
    await document.current();
    pass(7 * 86_400 - 1);
    expect(await document.current()).toBe('a');
    pass(2);
    expect(await document.current()).toBe('b');
    expect(document.lastError).toBeUndefined();
  });

  it('does not believe "unchanged" about nothing', async () => {
    const { document } = setUp([{ unchanged: true }]);
    await expect(document.refresh()).rejects.toThrow('unchanged');
  });
});
