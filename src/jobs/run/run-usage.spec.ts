import { describe, expect, it } from '@jest/globals';
import { usageParameters, type RunUsage } from './run-usage.js';

const WHOLE = {
  source: 'wrapper',
  wallSeconds: 10,
  cpuSeconds: 15,
  maxRssBytes: 100 * 2 ** 20 + 1,
  processors: 2,
  memoryMb: 400,
} as const;

const FACTORS = { energyProcessorWatts: 10, energyMemoryWatts: 0.5, energyPue: 2 };
const told = (usage: RunUsage): Record<string, unknown> => usageParameters(usage, FACTORS);

describe('usageParameters', () => {
  it('says what was used, and how much of what was given', () => {
    expect(told(WHOLE)).toEqual({
      UsageSource: 'wrapper',
      'WallClockTime(s)': 10,
      'TotalCPUTime(s)': 15,
      'CPUEfficiency(%)': 75,
      'Memory(MB)': 101,
      'MemoryEfficiency(%)': 25,
      // (15 s × 10 W + 10 s × 400/1024 GB × 0.5 W) × 2
      'Energy(Wh)': 0.084,
    });
  });

  it('says nothing of what nobody measured', () => {
    const usage = { source: 'service', wallSeconds: 10, processors: 1, memoryMb: 400 } as const;
    expect(told(usage)).toEqual({
      UsageSource: 'service',
      'WallClockTime(s)': 10,
      // All of the processor, and 400 MB: (10 s × 10 W + 10 s × 400/1024 GB × 0.5 W) × 2.
      'Energy(Wh)': 0.057,
    });
  });

  it('says no share of memory that nobody limited, and none of CPU of less than a second', () => {
    const { memoryMb: _, ...unlimited } = { ...WHOLE, wallSeconds: 0.999 };
    expect(told(unlimited)).toEqual({
      UsageSource: 'wrapper',
      'WallClockTime(s)': 0.999,
      'TotalCPUTime(s)': 15,
      'Memory(MB)': 101,
      'Energy(Wh)': 0.083,
    });
  });

  it('shows a job that used more processors than it asked for', () => {
    expect(told({ ...WHOLE, processors: 1 })['CPUEfficiency(%)']).toBe(150);
  });
});
