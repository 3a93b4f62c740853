import { describe, expect, it } from '@jest/globals';
import { usageParameters } from './run-usage.js';

const WHOLE = {
  source: 'wrapper',
  wallSeconds: 10,
  cpuSeconds: 15,
  maxRssBytes: 100 * 2 ** 20 + 1,
  processors: 2,
  memoryMb: 400,
} as const;

describe('usageParameters', () => {
  it('says what was used, and how much of what was given', () => {
    expect(usageParameters(WHOLE)).toEqual({
      UsageSource: 'wrapper',
      'WallClockTime(s)': 10,
      'TotalCPUTime(s)': 15,
      'CPUEfficiency(%)': 75,
      'Memory(MB)': 101,
      'MemoryEfficiency(%)': 25,
    });
  });

  it('says nothing of what nobody measured', () => {
    const usage = { source: 'service', wallSeconds: 10, processors: 1, memoryMb: 400 } as const;
    expect(usageParameters(usage)).toEqual({ UsageSource: 'service', 'WallClockTime(s)': 10 });
  });

  it('says no share of memory that nobody limited, and none of CPU of less than a second', () => {
    const { memoryMb: _, ...unlimited } = { ...WHOLE, wallSeconds: 0.999 };
    expect(usageParameters(unlimited)).toEqual({
      UsageSource: 'wrapper',
      'WallClockTime(s)': 0.999,
      'TotalCPUTime(s)': 15,
      'Memory(MB)': 101,
    });
  });

  it('shows a job that used more processors than it asked for', () => {
    expect(usageParameters({ ...WHOLE, processors: 1 })['CPUEfficiency(%)']).toBe(150);
  });
});
