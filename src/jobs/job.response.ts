import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import type { Job } from './job.js';
import { ManifestRequest } from './manifest.request.js';
import { WARNING_CODES, type ManifestWarning } from './manifest/manifest-warning.js';
import { JOB_STATES, type JobState } from './state/job-state.js';

/** A 64-bit integer: a JSON number with all its digits. */
const INT64 = { type: 'integer', format: 'int64' } as const;
const TIME = { type: 'string', format: 'date-time', example: '2026-01-02T03:04:05.678Z' } as const;

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

/** What looks like a mistake in a manifest that was accepted. */
export class SubmitWarning implements ManifestWarning {
  @ApiProperty({ enum: Object.keys(WARNING_CODES), example: 'manifest.alias' })
  code!: ManifestWarning['code'];
  /** @example 'StdOut is read as StdOutput' */
  detail!: string;
  /**
   * RFC 6901: into the manifest; of several manifests, however they were sent, into `{"manifests": […]}`.
   * @example '/StdOut'
   */
  pointer!: string;
}

/** Answer to a submit. */
export class SubmitResponse {
  @ApiProperty({
    type: 'array',
    items: INT64,
    description: 'Ids of the new jobs, in the order of the manifests',
    example: [101, 102],
  })
  jids!: (number | bigint)[];
  @ApiProperty({
    type: () => [SubmitWarning],
    required: false,
    description:
      'What looks like a mistake but was accepted, the first 100; absent when there is nothing',
  })
  warnings?: SubmitWarning[];
}

/** Answer to a submit with `dryRun=true`. */
export class DryRunResponse {
  valid!: true;
  @ApiProperty({ type: 'integer', description: 'How many jobs would be made', example: 1 })
  jobs!: number;
  @ApiProperty({
    type: () => [ManifestRequest],
    description: 'The manifests as they would be stored, one for each job',
  })
  manifests!: Record<string, unknown>[];
  @ApiProperty({
    type: () => [SubmitWarning],
    description: 'What looks like a mistake but would be accepted, the first 100',
  })
  warnings!: SubmitWarning[];
}

/** Answer to a kill or a reschedule. */
export class JobIdResponse {
  @ApiProperty({ ...INT64, description: 'Id of the job', example: 4711 })
  jid!: number | bigint;
}

/** What became of one job of a bulk kill. */
export class BulkKillResult {
  @ApiProperty({ type: 'integer', enum: [200, 403, 404, 409], example: 200 })
  status!: number;
  detail?: string;
}

/** Answer to a bulk kill: job id → result. */
@ApiExtraModels(BulkKillResult)
export class BulkKillResponse {
  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(BulkKillResult) },
    example: { '4711': { status: 200 }, '4712': { status: 404, detail: 'There is no job 4712' } },
  })
  results!: Record<string, BulkKillResult>;
}

/** One move of a job. */
export class JobHistoryEntry {
  status!: string;
  minorStatus!: string;
  appStatus!: string;
  @ApiProperty(TIME)
  time!: string;
  /** Who moved it: `REST`, `Dispatcher`, an executor, `Reaper`, or a person. */
  source!: string;
}

/** All moves of a job, oldest first. */
export class JobHistoryResponse {
  history!: JobHistoryEntry[];
}

/** The end of the running output. */
export class JobPeekResponse {
  stdout!: string;
  stderr!: string;
}

/** Why a job still waits. */
export class JobExplainResponse {
  @ApiProperty({ ...INT64, description: 'Id of the job', example: 4711 })
  jid!: number | bigint;
  status!: string;
  /**
   * Site → reason.
   * @example { 'LOCAL.demo': 'All slots are taken' }
   */
  sites!: Record<string, string>;
}

/** One file of a sandbox. */
export class SandboxFileEntry {
  /** @example 'std.out' */
  name!: string;
  @ApiProperty({ ...INT64, description: 'Bytes', example: 12 })
  size!: number | bigint;
}

/** The files of a sandbox. */
export class SandboxFilesResponse {
  files!: SandboxFileEntry[];
}
