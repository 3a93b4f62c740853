import { describe, expect, it } from '@jest/globals';
import { Problem } from './problem.js';

describe('a problem', () => {
  it('names a hundred faults at most, each in a few words', () => {
    const violations = Array.from({ length: 5_000 }, (_, index) => ({
      field: `f${index}${'x'.repeat(1_000)}`,
      problem: 'is no metadata field',
    }));
    const problem = Problem.invalid(violations);
    expect(problem.violations).toHaveLength(100);
    expect(problem.violations?.[0]).toEqual({
      field: `f0${'x'.repeat(298)}…`,
      problem: 'is no metadata field',
    });
    expect(problem.detail).toHaveLength(2_001);
    expect(problem.message.length).toBeLessThan(2_100);
  });

  it('knows where in the code it came from only when that is at fault', () => {
    const limit = Error.stackTraceLimit;
    expect(new Problem('request.invalid', 'x').stack).not.toContain('\n    at ');
    expect(new Problem('service.failure', 'x').stack).toContain('problem.spec');
    expect(Error.stackTraceLimit).toBe(limit);
  });

  it('cuts no character in two', () => {
    const { detail } = new Problem('request.invalid', `x${'💥'.repeat(2_000)}`);
    expect(detail).toBe(`x${'💥'.repeat(999)}…`);
  });

  it('leaves what is short as it is', () => {
    const violations = [{ field: 'limit', problem: 'must be at least 1' }];
    expect(Problem.invalid(violations)).toMatchObject({
      detail: 'limit: must be at least 1',
      violations,
    });
  });
});
