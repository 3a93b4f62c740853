/** What runs are taken to need of electricity (settings `GRID_ENERGY_*`). */
export interface EnergyFactors {
  energyProcessorWatts: number;
  /** Of a GB of 2^30 bytes. */
  energyMemoryWatts: number;
  /** What the computing centre takes for each watt of its machines. */
  energyPue: number;
}

/** What the energy of runs is reckoned from, summed over them. */
export interface EnergySums {
  /** Seconds that processors were at work; where nobody measured it, all that they were given. */
  busySeconds: number;
  /** MB of 2^20 bytes that were given (else used), times the seconds of the run. */
  memorySeconds: number;
}

const MB_PER_GB = 1024;
const SECONDS_PER_HOUR = 3600;

/**
 * Energy in Wh, an estimate: (processors at work × their power + memory held × its power) × PUE, the formula of Green Algorithms
 * (Lannelongue, Grealey, Inouye, Advanced Science 2021). Processors that were held and idle count nothing.
 */
export function energyOf(sums: EnergySums, factors: EnergyFactors): number {
  const { energyProcessorWatts, energyMemoryWatts, energyPue } = factors;
  const processors = sums.busySeconds * energyProcessorWatts;
  const memory = (sums.memorySeconds / MB_PER_GB) * energyMemoryWatts;
  return ((processors + memory) * energyPue) / SECONDS_PER_HOUR;
}
