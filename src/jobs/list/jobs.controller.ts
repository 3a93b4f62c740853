import { Controller, Get, Param, Res } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Query, type HttpResponse, type QueryValues } from '#src/platform/index.js';
import { QueryKeys } from '../access/query-keys.decorator.js';
import { JID_PARAM } from '../state/job.openapi.js';
import {
  ApiJobFilters,
  COUNTABLE_NAMES,
  FILTERS,
  instantQuery,
  MOST_COUNTS,
} from './job-filters.openapi.js';
import { JobListResponse, JobResponse } from './job.response.js';
import { JobsService } from './jobs.service.js';

/** Lists, the summary, and records. */
@ApiTags('jobs')
@Controller('jobs')
export class JobsController {
  constructor(private readonly jobs: JobsService) {}

  /** Lists jobs, newest first. */
  @Get()
  @Access('bearer', 'jobs:read')
  @ApiOperation({
    operationId: 'listJobs',
    summary: 'List jobs, newest first',
    description: FILTERS,
  })
  @ApiQuery({
    name: 'allOwners',
    required: false,
    type: Boolean,
    description: 'Jobs of all owners',
  })
  @ApiQuery({
    name: 'maxJobs',
    required: false,
    description: 'At most so many jobs; more than `GRID_MAX_JOBS` (10000) is taken as that many',
    schema: { type: 'integer', minimum: 1, default: 100 },
  })
  @ApiQuery({
    name: 'startJob',
    required: false,
    description: 'So many jobs are left out at the start; the page is empty behind the last one',
    schema: { type: 'integer', minimum: 0, default: 0 },
  })
  @ApiJobFilters()
  @ApiQuery({
    name: 'sort',
    required: false,
    description: 'Wire names, minus for descending: `-jid,lastUpdate`',
    schema: { type: 'string' },
  })
  @ApiQuery(instantQuery('fromDate', 'Last update at or after'))
  @ApiQuery(instantQuery('toDate', 'Last update before'))
  @ApiQuery({
    name: 'after',
    required: false,
    description: 'Cursor of the `Link: rel="next"` header',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
  })
  @ApiOkResponse({ type: JobListResponse })
  @ApiBadRequestResponse({ description: 'A key or value of the query is wrong' })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<JobListResponse> {
    const { body, link } = await this.jobs.list(principal, query);
    if (link !== undefined) response.setHeader('Link', link);
    return body;
  }

  /** Counts jobs by attributes. */
  @Get('summary')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'summarizeJobs', summary: 'Count jobs', description: FILTERS })
  @ApiQuery({
    name: 'group',
    required: false,
    description: `Attributes to count by; default \`Status\`. More than ${MOST_COUNTS} counts are refused`,
    schema: { type: 'array', items: { type: 'string', enum: COUNTABLE_NAMES } },
  })
  @ApiQuery({
    name: 'allOwners',
    required: false,
    type: Boolean,
    description: 'Jobs of all owners',
  })
  @ApiJobFilters()
  @ApiOkResponse({
    description: 'Values joined by `|` → number',
    schema: { $ref: '#/components/schemas/JobSummary' },
  })
  @ApiBadRequestResponse({
    description: `A key or value of the query is wrong, or there would be more than ${MOST_COUNTS} counts`,
  })
  async summary(
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
  ): Promise<Record<string, number>> {
    return this.jobs.summary(principal, query);
  }

  /** The record of a job. */
  @Get(':jid')
  @Access('bearer', 'jobs:read')
  @QueryKeys()
  @ApiOperation({ operationId: 'getJob', summary: 'The record of a job' })
  @ApiParam(JID_PARAM)
  @ApiOkResponse({ type: JobResponse })
  @ApiNotFoundResponse({ description: 'Unknown or not visible' })
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobResponse> {
    return this.jobs.get(principal, jid);
  }
}
