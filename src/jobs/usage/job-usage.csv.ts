import { csvText } from '#src/kernel/index.js';
import type { JobUsage, JobUsageResponse } from './job-usage.response.js';
import type { UsageKey } from './usage.repository.js';

const FIGURES: readonly (readonly [keyof JobUsage, string])[] = [
  ['runs', 'runs'],
  ['done', 'done'],
  ['wallHours', 'wall_hours'],
  ['processorHours', 'processor_hours'],
  ['cpuHours', 'cpu_hours'],
  ['cpuEfficiency', 'cpu_efficiency_percent'],
  ['memoryEfficiency', 'memory_efficiency_percent'],
  ['energy', 'energy_kwh'],
];

/** The rows as CSV with a heading; nothing for what is not known. */
export function csvOf({ rows }: JobUsageResponse, by: readonly UsageKey[]): string {
  const heading = [...by, ...FIGURES.map(([, name]) => name)];
  const lines = rows.map((row) => [
    ...by.map((key) => row[key]),
    ...FIGURES.map(([figure]) => row[figure]),
  ]);
  return csvText(heading, lines);
}
