import { ApiProperty } from '@nestjs/swagger';

/** What somebody has had of the processors, and is due; parts of 1. */
class Share {
  @ApiProperty({
    description: 'Part of what was used lately, older use counting less',
    example: 0.25,
  })
  used!: number;
  @ApiProperty({
    description: 'Part that is due beside the others that have used something lately or wait',
    example: 0.5,
  })
  due!: number;
  /** Processor-seconds, older ones counting less
   * @example 86400 */
  seconds!: number;
  /** Processors of the jobs that sites have been given
   * @example 12 */
  held!: number;
  /** Has jobs that wait for their turn */
  waiting!: boolean;
}

/** An owner's share; `used` and `due` are parts of what the group has had. */
export class JobOwnerShare extends Share {
  @ApiProperty({ example: 'alice' })
  owner!: string;
}

/** A group's share of what all groups have had, or those of your virtual organisation where you see no others. */
export class JobGroupShare extends Share {
  @ApiProperty({ example: 'grid_user' })
  group!: string;
  /** Beside the weights of other groups (registry)
   * @example 1 */
  weight!: number;
  /** By name, those whose jobs you may see */
  @ApiProperty({ type: [JobOwnerShare] })
  owners!: JobOwnerShare[];
}

/** What groups and their owners have had of the processors, and are due. */
export class JobSharesResponse {
  /** False where places are given by priority and age alone (GRID_SHARES) */
  shared!: boolean;
  /** Seconds after which use counts half
   * @example 86400 */
  halfLife!: number;
  /** By name, those whose jobs you may see, and your own */
  @ApiProperty({ type: [JobGroupShare] })
  groups!: JobGroupShare[];
}
