import { ApiProperty } from '@nestjs/swagger';
import type { Job } from '../state/job.entity.js';
import { INT64 } from '../state/job.openapi.js';
import type { Jid } from '../state/job.js';
import { JOB_ATTRIBUTES, type JobAttribute } from './job-attributes.js';
import { valueType } from './job-value-types.js';

const FLAGS = JOB_ATTRIBUTES.filter(({ type }) => type === 'boolean');
const TIMES = JOB_ATTRIBUTES.filter(({ type }) => type === 'time');
const OTHERS = JOB_ATTRIBUTES.filter(({ type }) => type !== 'boolean' && type !== 'time');

/** The properties of a class are those attributes: for the OpenAPI document. */
function Attributes(attributes: readonly JobAttribute[]): ClassDecorator {
  return (target) => {
    const prototype = target.prototype as object;
    for (const { wire, type, shown } of attributes) {
      const { filter, shown: schema = filter } = valueType(type);
      ApiProperty({ ...schema, ...shown })(prototype, wire);
    }
  };
}

/** Marks of a job. */
@Attributes(FLAGS)
class JobFlagsResponse {
  static from(job: Job) {
    return {
      verified: job.verified,
      retrieved: job.retrieved,
      accounted: job.accounted,
      killed: job.status === 'Killed',
      deleted: job.status === 'Deleted',
      inputSandboxReady: job.inputSandbox !== null,
      outputSandboxReady: job.outputSandbox !== null,
    };
  }
}

/** Times of a job, ISO 8601 UTC with milliseconds; what has not happened is left out. */
@Attributes(TIMES)
class JobTimesResponse {
  static from(job: Job): Record<string, string> {
    const { heartBeat, lastUpdate, startExecution, endExecution, rescheduleTime } = job;
    const isBeatNewer = heartBeat !== null && heartBeat > lastUpdate;
    const times: Record<string, string> = {
      submission: job.submissionTime.toISOString(),
      lastUpdate: lastUpdate.toISOString(),
      lastSOL: (isBeatNewer ? heartBeat : lastUpdate).toISOString(),
    };
    if (heartBeat) times['heartBeat'] = heartBeat.toISOString();
    if (startExecution) times['startExecution'] = startExecution.toISOString();
    if (endExecution) times['endExecution'] = endExecution.toISOString();
    if (rescheduleTime) times['reschedule'] = rescheduleTime.toISOString();
    return times;
  }
}

/**
 * A job as everybody who may see it sees it (reference 1.5): every attribute by its wire name. Written out, since a page
 * of 100 that is filled by walking the table takes 0.7 instead of 0.3 ms; a test holds it to the table.
 */
@Attributes(OTHERS)
export class JobResponse {
  [attribute: string]: Jid | string | object;
  @ApiProperty({ type: () => JobFlagsResponse })
  flags!: object;
  @ApiProperty({ type: () => JobTimesResponse })
  times!: object;

  static from(job: Job): JobResponse {
    return {
      jid: job.jid,
      status: job.status,
      minorStatus: job.minorStatus,
      appStatus: job.appStatus,
      name: job.name,
      jobGroup: job.jobGroup,
      jobType: job.jobType,
      site: job.site,
      owner: job.owner,
      ownerDN: job.ownerDn,
      ownerGroup: job.ownerGroup,
      ...(job.vo === '' ? {} : { vo: job.vo }),
      setup: job.setup,
      priority: job.priority,
      cpuTime: job.cpuTime,
      reschedules: job.reschedules,
      ...(job.arrayId === null ? {} : { arrayId: job.arrayId }),
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
