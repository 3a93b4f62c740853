import type { Job } from './job.js';
import type { JobState } from './state/job-state.js';

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
  /** @example '2026-01-02T03:04:05.678Z' */
  submission!: string;
  lastUpdate!: string;
  /** Last sign of life: the newer of heart beat and last update. */
  lastSOL!: string;
  heartBeat?: string;
  startExecution?: string;
  endExecution?: string;
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
  /**
   * 64-bit integer, a JSON number with all its digits.
   * @example 4711
   */
  jid!: number | bigint;
  /** @example 'Running' */
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
  /** @example 1 */
  priority!: number;
  /** Seconds of CPU asked for. */
  cpuTime!: number;
  /** How often it was rescheduled. */
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
  /** Number of all matching jobs, not of those on the page. */
  entries!: number | bigint;
  jobs!: JobResponse[];
}

/** Answer to a submit. */
export class SubmitResponse {
  /**
   * Ids of the new jobs, in the order of the manifests.
   * @example [101, 102]
   */
  jids!: (number | bigint)[];
  /** What looks like a mistake but was accepted. */
  warnings?: string[];
}

/** Answer to a submit with `dryRun=true`. */
export class DryRunResponse {
  valid!: true;
  /** How many jobs would be made. */
  jobs!: number;
  /** The manifests as they would be stored, one for each job. */
  manifests!: Record<string, unknown>[];
  warnings!: string[];
}

/** Answer to a kill or a reschedule. */
export class JobIdResponse {
  /** @example 4711 */
  jid!: number | bigint;
}

/** What became of one job of a bulk kill. */
export class BulkKillResult {
  /** 200, 403, 404 or 409. */
  status!: number;
  detail?: string;
}

/** Answer to a bulk kill: job id → result. */
export class BulkKillResponse {
  results!: Record<string, BulkKillResult>;
}

/** One move of a job. */
export class JobHistoryEntry {
  status!: string;
  minorStatus!: string;
  appStatus!: string;
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
  jid!: number | bigint;
  status!: string;
  /** Site → reason. */
  sites!: Record<string, string>;
}

/** One file of a sandbox. */
export class SandboxFileEntry {
  name!: string;
  size!: number | bigint;
}

/** The files of a sandbox. */
export class SandboxFilesResponse {
  files!: SandboxFileEntry[];
}
