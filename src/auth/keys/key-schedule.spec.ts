import {
  activationOf,
  deadKeys,
  isRotationDue,
  nextKey,
  PUBLICATION_LEAD_MS,
  signingKeyAt,
  type ScheduledKey,
} from './key-schedule.js';

const T0 = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 86_400_000;

function key(kid: string, activeFrom?: number, createdAt = T0): ScheduledKey {
  return {
    kid,
    createdAt: new Date(createdAt),
    activeFrom: activeFrom === undefined ? null : new Date(activeFrom),
    longestTtlSeconds: 86_400,
  };
}

describe('the schedule of signing keys', () => {
  it('signs with the key that started last, whatever the order of the list', () => {
    const keys = [key('b', T0 + 10), key('a', T0), key('c', T0 + 1000), key('next')];
    expect(signingKeyAt(keys, T0 + 50)?.kid).toBe('b');
    expect(signingKeyAt(keys, T0 + 1000)?.kid).toBe('c');
    expect(signingKeyAt([key('next')], T0)).toBeUndefined();
  });

  it('never starts a key that may be missing in a cached key set', () => {
    const fresh = key('fresh', undefined, T0);
    expect(activationOf(fresh, T0 + 1).getTime()).toBe(T0 + PUBLICATION_LEAD_MS);
    expect(activationOf(fresh, T0 + DAY_MS).getTime()).toBe(T0 + DAY_MS);
    expect(PUBLICATION_LEAD_MS).toBeGreaterThan(300_000);
  });

  it('publishes a key twice as long as the key set may be cached', () => {
    expect(PUBLICATION_LEAD_MS).toBe(600_000);
  });

  it('has nothing to do without keys, but to rotate', () => {
    expect(signingKeyAt([], T0)).toBeUndefined();
    expect(nextKey([])).toBeUndefined();
    expect(deadKeys([], T0)).toEqual([]);
    expect(isRotationDue([], T0, 100)).toBe(true);
    expect(isRotationDue([key('next')], T0, 100)).toBe(true);
  });

  it('finds the published key that waits', () => {
    expect(nextKey([key('a', T0), key('b')])?.kid).toBe('b');
    expect(nextKey([key('a', T0), key('b', T0 + DAY_MS)])).toBeUndefined();
  });

  it('is due when the youngest key in use or scheduled is old', () => {
    const keys = [key('a', T0), key('next')];
    expect(isRotationDue(keys, T0 + 99_999, 100)).toBe(false);
    expect(isRotationDue(keys, T0 + 100_000, 100)).toBe(true);
    expect(isRotationDue([...keys, key('b', T0 + 200_000)], T0 + 100_000, 100)).toBe(false);
  });

  it('keeps a replaced key until its longest token is dead, and the signing one for ever', () => {
    const keys = [key('a', T0), key('b', T0 + DAY_MS), key('next')];
    expect(deadKeys(keys, T0 + 2 * DAY_MS)).toEqual([]);
    expect(deadKeys(keys, T0 + 2 * DAY_MS + 121_000).map(({ kid }) => kid)).toEqual(['a']);
    expect(deadKeys(keys, T0 + 2 * DAY_MS + 120_000)).toEqual([]);
    expect(deadKeys(keys, T0 + 2 * DAY_MS + 120_001).map(({ kid }) => kid)).toEqual(['a']);
    expect(deadKeys([key('a', T0)], T0 + 900 * DAY_MS)).toEqual([]);
    const unordered = [key('c', T0 + 4 * DAY_MS), key('b', T0 + 2 * DAY_MS), key('a', T0)];
    expect(deadKeys(unordered, T0 + 9 * DAY_MS).map(({ kid }) => kid)).toEqual(['a', 'b']);
  });
});
