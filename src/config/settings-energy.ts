import * as v from './variables.js';

/** What a run is taken to need of electricity (docs/design/jobs.md). */
export const ENERGY = {
  energyProcessorWatts: v.decimal('GRID_ENERGY_PROCESSOR_WATTS', 12, {
    min: 0,
    max: 10_000,
    description: 'Watts of a processor at work, for the energy in the reports of usage',
  }),
  energyMemoryWatts: v.decimal('GRID_ENERGY_MEMORY_WATTS', 0.3725, {
    min: 0,
    max: 1_000,
    description: 'Watts of a GB (2^30 bytes) of memory that a run was given',
  }),
  energyPue: v.decimal('GRID_ENERGY_PUE', 1.67, {
    min: 1,
    max: 10,
    description:
      'Power usage effectiveness: what the computing centre takes for each watt of its machines',
  }),
};
