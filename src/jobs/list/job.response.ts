import { ApiProperty } from '@nestjs/swagger';
import { JOB_STATES, type JobState } from '../state/job-state.js';
import { INT64, TIME } from '../state/job.openapi.js';
import type { Job } from '../state/job.js';

/** Marks of a job. */
export class JobFlagsResponse {
  /** The input was accepted. */
  verified!: boolean;
  /** The owner has fetched the output sandbox. */
  retrieved!: boolean;
  /** Used CPU and wall time are recorded. */
  accounted!: boolean;
  outputSandboxReady!: boolean;
  inputSandboxReady!: boolean;
  deleted!: boolean;
  killed!: boolean;

  static from(job: Job): JobFlagsResponse {
    return {
      verified: job.verified,
      retrieved: job.retrieved,
      accounted: job.accounted,
      outputSandboxReady: job.output_sandbox !== null,
      inputSandboxReady: job.input_sandbox !== null,
      deleted: job.status === 'Deleted',
      killed: job.status === 'Killed',
    };
  }
}

/** Times of a job, ISO 8601 UTC with milliseconds; what has not happened is left out. */
export class JobTimesResponse {
  @ApiProperty(TIME)
  submission!: string;
  @ApiProperty(TIME)
  lastUpdate!: string;
  /** Last sign of life: the newer of heart beat and last update. */
  @ApiProperty(TIME)
  lastSOL!: string;
  @ApiProperty({ ...TIME, required: false })
  heartBeat?: string;
  @ApiProperty({ ...TIME, required: false })
  startExecution?: string;
  @ApiProperty({ ...TIME, required: false })
  endExecution?: string;
  @ApiProperty({ ...TIME, required: false })
  reschedule?: string;

  static from(job: Job): JobTimesResponse {
    const heartBeat = job.heart_beat?.getTime() ?? 0;
    const times: JobTimesResponse = {
      submission: job.submission_time.toISOString(),
      lastUpdate: job.last_update.toISOString(),
      lastSOL: new Date(Math.max(heartBeat, job.last_update.getTime())).toISOString(),
    };
    if (job.heart_beat) times.heartBeat = job.heart_beat.toISOString();
    if (job.start_execution) times.startExecution = job.start_execution.toISOString();
    if (job.end_execution) times.endExecution = job.end_execution.toISOString();
    if (job.reschedule_time) times.reschedule = job.reschedule_time.toISOString();
    return times;
  }
}

/** A job as everybody who may see it sees it (reference 1.5). */
export class JobResponse {
  @ApiProperty({ ...INT64, description: 'Id of the job', example: 4711 })
  jid!: number | bigint;
  @ApiProperty({ enum: Object.keys(JOB_STATES), example: 'Running' })
  status!: JobState;
  /** @example 'Application' */
  minorStatus!: string;
  /** @example 'Unknown' */
  appStatus!: string;
  /** @example 'mc-1' */
  name!: string;
  /** @example '00000000' */
  jobGroup!: string;
  /** @example 'User' */
  jobType!: string;
  /** Where it runs; before that the wanted site, `Multiple` or `ANY`. */
  site!: string;
  /** @example 'alice' */
  owner!: string;
  /** @example '/DC=org/DC=grid/CN=alice' */
  ownerDN!: string;
  /** @example 'grid_user' */
  ownerGroup!: string;
  /** Virtual organisation of the owner's group, when it has one. */
  vo?: string;
  /** @example 'Prod' */
  setup!: string;
  @ApiProperty({ type: 'integer', example: 1 })
  priority!: number;
  @ApiProperty({ type: 'integer', description: 'Seconds of CPU asked for', example: 86400 })
  cpuTime!: number;
  @ApiProperty({ type: 'integer', description: 'How often it was rescheduled', example: 0 })
  reschedules!: number;
  flags!: JobFlagsResponse;
  times!: JobTimesResponse;

  static from(job: Job): JobResponse {
    return {
      jid: job.jid,
      status: job.status,
      minorStatus: job.minor_status,
      appStatus: job.app_status,
      name: job.name,
      jobGroup: job.job_group,
      jobType: job.job_type,
      site: job.site,
      owner: job.owner,
      ownerDN: job.owner_dn,
      ownerGroup: job.owner_group,
      ...(job.vo === '' ? {} : { vo: job.vo }),
      setup: job.setup,
      priority: job.priority,
      cpuTime: job.cpu_time,
      reschedules: job.reschedules,
      flags: JobFlagsResponse.from(job),
      times: JobTimesResponse.from(job),
    };
  }
}

/** A page of jobs, newest first unless `sort` says otherwise. */
export class JobListResponse {
  @ApiProperty({
    ...INT64,
    description: 'Number of all matching jobs, not of those on the page',
    example: 1,
  })
  entries!: number | bigint;
  jobs!: JobResponse[];
}
