import { ApiProperty } from '@nestjs/swagger';
import { INT64, TIME } from '../state/job.openapi.js';
import { JOB_STATE_NAMES, type JobState } from '../state/job-state.js';
import type { Jid } from '../state/job.js';

/** A job after one of its moves. */
class JobMoveResponse {
  @ApiProperty({ ...INT64, example: 4711 })
  jid!: Jid;
  @ApiProperty({ enum: JOB_STATE_NAMES })
  status!: JobState;
  @ApiProperty({ example: 'Application' })
  minorStatus!: string;
  @ApiProperty({ example: 'Unknown' })
  appStatus!: string;
  @ApiProperty({ example: 'Local' })
  site!: string;
  @ApiProperty(TIME)
  lastUpdate!: string;
}

/** One event. */
class JobEventResponse {
  @ApiProperty({ description: 'Position behind the event', example: '815' })
  id!: string;
  @ApiProperty({
    enum: ['job', 'left'],
    description: '`left`: the filters let the job through before this move, and do not any more',
  })
  event!: 'job' | 'left';
  data!: JobMoveResponse;
}

/** The answer to a long poll. */
export class JobEventsResponse {
  events!: JobEventResponse[];
  @ApiProperty({ description: '`after` of the next request', example: '815' })
  position!: string;
}
