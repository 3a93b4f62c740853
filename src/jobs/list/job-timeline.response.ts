import { ApiProperty } from '@nestjs/swagger';
import { JOB_STATE_NAMES, type JobState } from '../state/job-state.js';
import { TIME } from '../state/job.openapi.js';

/** How many jobs were in one state, step by step. */
export class JobTimelineSeries {
  @ApiProperty({ enum: JOB_STATE_NAMES, example: 'Running' })
  status!: JobState;
  /** Present value of the attribute that the counts are divided by; only with `group` */
  @ApiProperty({ type: 'string', required: false, example: 'LOCAL.demo' })
  group?: string;
  /** A number of jobs for each step */
  @ApiProperty({ type: 'array', items: { type: 'integer' }, example: [0, 3, 12] })
  counts!: number[];
}

/** How many jobs were in which state, at steps of time. */
export class JobTimelineResponse {
  @ApiProperty({ ...TIME, description: 'The first step' })
  from!: string;
  @ApiProperty({ ...TIME, description: 'The last step' })
  to!: string;
  /** Seconds from one step to the next
   * @example 3600 */
  step!: number;
  series!: JobTimelineSeries[];
}
