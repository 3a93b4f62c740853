import { ApiProperty } from '@nestjs/swagger';
import type { Jid } from '../state/job.js';
import { JOB_STATE_NAMES } from '../state/job-state.js';
import { INT64, TIME } from '../state/job.openapi.js';
import type { JobArrayEntity } from './job-array.entity.js';

const ARRAY_ID = { ...INT64, description: 'Id of the array', example: 12 } as const;

/** An array of jobs, and how many of its members are in which state. */
export class ArrayResponse {
  @ApiProperty(ARRAY_ID)
  arrayId!: Jid;
  @ApiProperty({
    description: 'JobName of the first manifest as it was sent, when it had one',
    required: false,
    example: 'mc-%n',
  })
  name?: string;
  /** @example 'alice' */
  owner!: string;
  /** @example 'grid_user' */
  ownerGroup!: string;
  @ApiProperty({
    description: "Virtual organisation of the owner's group, when it has one.",
    required: false,
  })
  vo?: string;
  setup!: string;
  @ApiProperty(TIME)
  submission!: string;
  @ApiProperty({
    type: 'integer',
    description: 'Members it was submitted with',
    minimum: 1,
    example: 100,
  })
  total!: number;
  @ApiProperty({
    type: 'object',
    description: 'State → number of members; states without any are left out',
    propertyNames: { enum: JOB_STATE_NAMES },
    additionalProperties: { type: 'integer', minimum: 1 },
    example: { Done: 90, Failed: 2, Running: 8 },
  } as never)
  states!: Record<string, number>;

  static from(array: JobArrayEntity, states: Record<string, number>): ArrayResponse {
    return {
      arrayId: array.id,
      ...(array.name === null ? {} : { name: array.name }),
      owner: array.owner,
      ownerGroup: array.ownerGroup,
      ...(array.vo === '' ? {} : { vo: array.vo }),
      setup: array.setup,
      submission: array.submissionTime.toISOString(),
      total: array.total,
      states,
    };
  }
}

/** Answer to a kill of an array. */
export class ArrayKillResponse {
  @ApiProperty(ARRAY_ID)
  arrayId!: Jid;
  @ApiProperty({
    type: 'integer',
    description: 'Members that were killed; with `purge` those that were deleted',
    minimum: 0,
    example: 98,
  })
  killed!: number;
}

/** Answer to a retry of an array. */
export class ArrayRetryResponse {
  @ApiProperty(ARRAY_ID)
  arrayId!: Jid;
  @ApiProperty({
    type: 'integer',
    description: 'Failed members that were sent back to the queue',
    minimum: 0,
    example: 2,
  })
  retried!: number;
  @ApiProperty({
    type: 'integer',
    description: 'Failed members that were rescheduled as often as they may be',
    minimum: 0,
    example: 0,
  })
  refused!: number;
  @ApiProperty({
    type: 'integer',
    description: 'Failed members that stay failed since no more jobs may wait',
    minimum: 0,
    example: 0,
  })
  left!: number;
}
