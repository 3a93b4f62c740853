import { describe, expect, it } from '@jest/globals';
import { csvOf } from './job-usage.csv.js';
import type { JobUsageResponse } from './job-usage.response.js';

const USAGE = {
  ...{ runs: 2, done: 1, wallHours: 0.5, processorHours: 1, cpuHours: 0.75 },
  ...{ cpuEfficiency: 75, memoryEfficiency: null, energy: 0.01 },
};
const report = (rows: JobUsageResponse['rows']): JobUsageResponse => ({
  ...{ from: '2026-01-01', to: '2026-01-31', total: USAGE, rows },
  energy: { processorWatts: 12, memoryWattsPerGB: 0.4, pue: 1.5 },
});
const FIGURES =
  'runs,done,wall_hours,processor_hours,cpu_hours,cpu_efficiency_percent,memory_efficiency_percent,energy_kwh';

describe('csvOf', () => {
  it('has a heading, and a line for each row', () => {
    const rows = [{ month: '2026-01', group: 'grid_user', ...USAGE }];
    expect(csvOf(report(rows), ['month', 'group'])).toBe(
      `month,group,${FIGURES}\r\n2026-01,grid_user,2,1,0.5,1,0.75,75,,0.01\r\n`,
    );
    expect(csvOf(report([]), [])).toBe(`${FIGURES}\r\n`);
  });

  it('keeps names from being read as formulas or as more cells', () => {
    const line = (owner: string): string =>
      csvOf(report([{ owner, ...USAGE }]), ['owner']).slice(`owner,${FIGURES}\r\n`.length);
    expect(line('=HYPERLINK("http://x")')).toBe(
      `"'=HYPERLINK(""http://x"")",2,1,0.5,1,0.75,75,,0.01\r\n`,
    );
    expect(line('a,b\r\nc')).toBe(`"a,b\r\nc",2,1,0.5,1,0.75,75,,0.01\r\n`);
    expect(line('-1')).toMatch(/^'-1,/);
  });
});
