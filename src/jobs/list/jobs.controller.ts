import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiBadRequestResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { type HttpResponse, type JsonText, queryValuesOf } from '#src/http/index.js';
import { JobListResponse, JobResponse } from './job.response.js';
import { FILTERS } from './job-list.openapi.js';
import { JobsService } from './jobs.service.js';
import { JobSummaryQuery, ListJobsQuery, MOST_COUNTS } from './list-jobs.query.js';
import { JobId } from '../state/job.openapi.js';

/** Lists, the summary, and records. */
@ApiTags('jobs')
@Controller('jobs')
export class JobsController {
  constructor(private readonly jobs: JobsService) {}

  /**
   * List jobs, newest first.
   *
   * @throws {400} A key or value of the query is wrong
   */
  @Get()
  @Access('bearer', 'jobs:read')
  @ApiOperation({ description: FILTERS })
  @ApiOkResponse({
    type: JobListResponse,
    headers: {
      'Grid-Feed-Position': {
        description: '`after` of `GET /jobs/events`, which goes on from this page without a gap',
        schema: { type: 'string' },
      },
    },
  })
  async listJobs(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ListJobsQuery,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<JsonText<JobListResponse>> {
    const { body, position, after } = await this.jobs.list(principal, query);
    response.setHeader('Grid-Feed-Position', position);
    if (after !== undefined) {
      response.setHeader('Link', this.jobs.linkTo(after, queryValuesOf(response.req)));
    }
    return body;
  }

  /** Count jobs. */
  @Get('summary')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ description: FILTERS })
  @ApiOkResponse({
    description: 'Values joined by `|` → number',
    schema: { $ref: '#/components/schemas/JobSummary' },
  })
  @ApiBadRequestResponse({
    description: `A key or value of the query is wrong, or there would be more than ${MOST_COUNTS} counts`,
  })
  async summarizeJobs(
    @CurrentPrincipal() principal: Principal,
    @Query() query: JobSummaryQuery,
  ): Promise<Record<string, number>> {
    return this.jobs.summary(principal, query);
  }

  /**
   * The record of a job.
   *
   * @remarks All attributes, under the names of the list.
   * @throws {404} Unknown or not visible
   */
  @Get(':jid')
  @Access('bearer', 'jobs:read')
  @ApiOkResponse({ type: JobResponse })
  async getJob(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<JsonText<JobResponse>> {
    return this.jobs.get(principal, jid);
  }
}
