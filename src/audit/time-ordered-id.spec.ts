import { describe, expect, it } from '@jest/globals';
import { leastIdOf, timeOrderedId } from './time-ordered-id.js';

const NOW = Date.parse('2026-01-02T03:04:05.678Z');

describe('an id in the order of time', () => {
  it('is a UUID version 7 with the milliseconds in front', () => {
    const id = timeOrderedId(NOW);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(parseInt(id.slice(0, 13).replace('-', ''), 16)).toBe(NOW);
  });

  it('comes behind those that were made before, also within a millisecond', () => {
    const ids = Array.from({ length: 3000 }, (_, index) =>
      timeOrderedId(NOW + 10 + Math.floor(index / 1000)),
    );
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('lies between the bounds of its millisecond', () => {
    const id = timeOrderedId(NOW);
    expect(leastIdOf(NOW) < id && id < leastIdOf(NOW + 1)).toBe(true);
    expect(leastIdOf(-1)).toBe('00000000-0000-0000-0000-000000000000');
  });
});
