import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { Job } from '../state/job.entity.js';
import { JOB_STATES } from '../state/job-state.js';
import { INT64, TIME } from '../state/job.openapi.js';
import type { Jid } from '../state/job.js';
import { JOB_ATTRIBUTES, type JobAttribute } from './job-attributes.js';

const FLAGS = JOB_ATTRIBUTES.filter(({ type }) => type === 'boolean');
const TIMES = JOB_ATTRIBUTES.filter(({ type }) => type === 'time');
const OTHERS = JOB_ATTRIBUTES.filter(({ type }) => type !== 'boolean' && type !== 'time');

const SCHEMAS = {
  text: { type: 'string' },
  state: { enum: Object.keys(JOB_STATES) },
  integer: { type: 'integer' },
  jid: INT64,
  boolean: { type: 'boolean' },
  time: TIME,
} as const satisfies Record<JobAttribute['type'], ApiPropertyOptions>;

/** The properties of a class are those attributes: in the OpenAPI document, and as `valuesOf` fills them. */
function Attributes(attributes: readonly JobAttribute[]): ClassDecorator {
  return (target) => {
    const prototype = target.prototype as object;
    for (const { wire, type, shown } of attributes) {
      ApiProperty({ ...SCHEMAS[type], ...shown })(prototype, wire);
    }
  };
}

function valuesOf(attributes: readonly JobAttribute[], job: Job): Record<string, never> {
  const values: Record<string, unknown> = {};
  for (const { wire, valueOf } of attributes) {
    const value = valueOf(job);
    if (value !== undefined) values[wire] = value;
  }
  return values as Record<string, never>;
}

/** Marks of a job. */
@Attributes(FLAGS)
export class JobFlagsResponse {
  [flag: string]: boolean;
}

/** Times of a job, ISO 8601 UTC with milliseconds; what has not happened is left out. */
@Attributes(TIMES)
export class JobTimesResponse {
  [time: string]: string;
}

/** A job as everybody who may see it sees it (reference 1.5): every attribute by its wire name. */
@Attributes(OTHERS)
export class JobResponse {
  [attribute: string]: Jid | string | object;
  @ApiProperty({ type: () => JobFlagsResponse })
  flags!: object;
  @ApiProperty({ type: () => JobTimesResponse })
  times!: object;

  static from(job: Job): JobResponse {
    return { ...valuesOf(OTHERS, job), flags: valuesOf(FLAGS, job), times: valuesOf(TIMES, job) };
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
