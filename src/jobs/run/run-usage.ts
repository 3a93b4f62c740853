import type { RunUse } from '../state/run-use.js';
import { energyOf, type EnergyFactors, type EnergySums } from './energy.js';

/** What a run has used, and who measured it. */
export interface RunUsage extends RunUse {
  /** `service` (local runs), `worker` (on its machine), `wrapper` (on the batch node), `slurmdbd` (Slurm's accounting). */
  source: 'service' | 'worker' | 'wrapper' | 'slurmdbd';
}

const MIB = 2 ** 20;
/** CPU time is counted in ticks of 10 ms: of shorter runs the share would be chance. */
const LEAST_WALL_SECONDS = 1;

/**
 * Usage as job parameters, the same for every place: `WallClockTime(s)`, `TotalCPUTime(s)`, `Memory(MB)` (the words of
 * the reference), `CPUEfficiency(%)` (CPU time of wall time times processors, above 100 when it used more than it asked
 * for), `MemoryEfficiency(%)` (of the memory that it was given), `Energy(Wh)` (energy.ts) and `UsageSource`.
 */
export function usageParameters(
  usage: RunUsage,
  factors: EnergyFactors,
): Record<string, string | number> {
  const { source, wallSeconds, cpuSeconds, maxRssBytes = 0, processors, memoryMb = 0 } = usage;
  const isLong = wallSeconds >= LEAST_WALL_SECONDS && processors > 0;
  return {
    UsageSource: source,
    'WallClockTime(s)': wallSeconds,
    ...(cpuSeconds === undefined ? {} : { 'TotalCPUTime(s)': cpuSeconds }),
    ...(cpuSeconds === undefined || !isLong
      ? {}
      : { 'CPUEfficiency(%)': percent(cpuSeconds, wallSeconds * processors) }),
    ...(maxRssBytes > 0 ? { 'Memory(MB)': Math.ceil(maxRssBytes / MIB) } : {}),
    ...(maxRssBytes > 0 && memoryMb > 0
      ? { 'MemoryEfficiency(%)': percent(maxRssBytes, memoryMb * MIB) }
      : {}),
    'Energy(Wh)': Math.round(energyOf(sumsOf(usage), factors) * 1000) / 1000,
  };
}

function sumsOf({ wallSeconds, processors, cpuSeconds, ...memory }: RunUsage): EnergySums {
  const processorSeconds = wallSeconds * processors;
  const { memoryMb = 0, maxRssBytes = 0 } = memory;
  const megabytes = memoryMb > 0 ? memoryMb : maxRssBytes / MIB;
  return {
    busySeconds: cpuSeconds ?? processorSeconds,
    memorySeconds: megabytes * wallSeconds,
  };
}

/** With one decimal. */
function percent(part: number, whole: number): number {
  return Math.round((part / whole) * 1000) / 10;
}
