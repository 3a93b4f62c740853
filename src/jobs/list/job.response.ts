import { ApiProperty } from '@nestjs/swagger';
import { INT64 } from '../state/job.openapi.js';
import type { Jid } from '../state/job.js';
import { JOB_ATTRIBUTES, type JobAttribute } from '../state/job-attributes.js';
import { valueType } from '../state/job-value-types.js';

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
class JobFlagsResponse {}

/** Times of a job, ISO 8601 UTC with milliseconds; what has not happened is left out. */
@Attributes(TIMES)
class JobTimesResponse {}

/** A job as everybody who may see it sees it: every attribute by its wire name. JOB_RECORD writes it. */
@Attributes(OTHERS)
export class JobResponse {
  [attribute: string]: Jid | string | object;
  @ApiProperty({ type: () => JobFlagsResponse })
  flags!: object;
  @ApiProperty({ type: () => JobTimesResponse })
  times!: object;
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
