import { Controller, Get, Query } from '@nestjs/common';
import { ApiBadRequestResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { FILTERS } from './job-list.openapi.js';
import { JobTimelineQuery, MOST_STEPS } from './job-timeline.query.js';
import { JobTimelineResponse } from './job-timeline.response.js';
import { JobTimelineService } from './job-timeline.service.js';

/** The jobs of a list in the course of time. */
@ApiTags('jobs')
@Controller('jobs')
export class JobTimelineController {
  constructor(private readonly timeline: JobTimelineService) {}

  /** How many jobs were in which state, in steps of time. */
  @Get('timeline')
  @Access('bearer', 'jobs:read')
  @ApiOperation({
    description: `At each step the jobs that match now are counted by the state in which they were then. ${FILTERS}`,
  })
  @ApiBadRequestResponse({
    description: `A key or value of the query is wrong, or there would be more than ${MOST_STEPS} steps`,
  })
  async showJobTimeline(
    @CurrentPrincipal() principal: Principal,
    @Query() query: JobTimelineQuery,
  ): Promise<JobTimelineResponse> {
    return this.timeline.show(principal, query);
  }
}
