import { describe, expect, it } from '@jest/globals';
import { instantOf, stateOf } from './job-filter.js';

describe('instantOf', () => {
  it('takes today and yesterday as the begins of local days, over the ends of months', () => {
    const noon = new Date(2026, 2, 1, 12);
    expect(instantOf('today', noon)).toBe(new Date(2026, 2, 1).toISOString());
    expect(instantOf('yesterday', noon)).toBe(new Date(2026, 1, 28).toISOString());
    expect(instantOf('2026-03-01', noon)).toBe('2026-03-01');
    expect(instantOf(undefined, noon)).toBeUndefined();
  });
});

describe('stateOf', () => {
  it('writes states as the service does, and leaves other words alone', () => {
    expect(['done', 'FAILED', 'Killed', 'no-state'].map(stateOf)).toEqual([
      ...['Done', 'Failed', 'Killed', 'no-state'],
    ]);
  });
});
