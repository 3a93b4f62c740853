import { ApiProperty } from '@nestjs/swagger';

/** What some runs have used together. */
export class JobUsage {
  /** Runs that were started and have ended, whatever became of their jobs
   * @example 1200 */
  runs!: number;
  /** Those whose jobs are Done
   * @example 1180 */
  done!: number;
  @ApiProperty({ description: 'Hours that they ran', example: 310.5 })
  wallHours!: number;
  @ApiProperty({ description: 'The same, times the processors that each was given', example: 621 })
  processorHours!: number;
  @ApiProperty({ description: 'Hours of processors at work, as far as measured', example: 558.9 })
  cpuHours!: number;
  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'Per cent of the processor time given that was used, of runs that were measured',
    example: 90,
  })
  cpuEfficiency!: number | null;
  @ApiProperty({
    type: 'number',
    nullable: true,
    description:
      'Per cent of the memory given that was used at most, weighed by time, of runs that were measured',
    example: 41.5,
  })
  memoryEfficiency!: number | null;
  @ApiProperty({
    description: 'kWh, estimated: (processors at work and memory held, each times its watts) × PUE',
    example: 12.7,
  })
  energy!: number;
}

/** A part of the whole. */
export class JobUsageRow extends JobUsage {
  @ApiProperty({ required: false, example: '2026-01' })
  month?: string;
  @ApiProperty({ required: false, example: '2026-01-31' })
  day?: string;
  @ApiProperty({ required: false, description: "Virtual organisation, '' for none", example: '' })
  vo?: string;
  @ApiProperty({ required: false, example: 'grid_user' })
  group?: string;
  @ApiProperty({ required: false, example: 'alice' })
  owner?: string;
  @ApiProperty({ required: false, example: 'LOCAL.demo' })
  site?: string;
  @ApiProperty({ required: false, description: '`JobGroup` of the jobs', example: 'tuning' })
  jobGroup?: string;
}

/** What a processor, a GB of memory and the building are taken to need. */
class EnergyAssumptions {
  /** Watts of a processor at work
   * @example 12 */
  processorWatts!: number;
  @ApiProperty({ description: 'Watts of a GB of memory held', example: 0.3725 })
  memoryWattsPerGB!: number;
  @ApiProperty({ description: 'Power usage effectiveness', example: 1.67 })
  pue!: number;
}

/** A report of usage: runs by the day on which they ended (UTC). */
export class JobUsageResponse {
  @ApiProperty({ description: 'First day', example: '2026-01-01' })
  from!: string;
  @ApiProperty({ description: 'Last day, which belongs to it', example: '2026-01-31' })
  to!: string;
  /** Why the energy is as it is */
  energy!: EnergyAssumptions;
  /** Everything that follows together */
  total!: JobUsage;
  @ApiProperty({ type: [JobUsageRow] })
  rows!: JobUsageRow[];
}
