import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { JobSharesQuery } from './job-shares.query.js';
import { JobSharesResponse } from './job-shares.response.js';
import { JobSharesService } from './job-shares.service.js';

/** How places are shared. */
@ApiTags('jobs')
@Controller('jobs')
export class JobSharesController {
  constructor(private readonly shares: JobSharesService) {}

  /** What groups and owners have had of the processors, and are due. */
  @Get('shares')
  @Access('bearer', 'jobs:read')
  @ApiOperation({
    description:
      'Groups that have used something lately or have jobs that wait. Who comes next is decided by what was used beside what is due, first between groups, then between the owners of a group (`GET /jobs/<jid>/explain` says it of one job). Seen are your own group, and whose jobs you may see.',
  })
  async showJobShares(
    @CurrentPrincipal() principal: Principal,
    @Query() query: JobSharesQuery,
  ): Promise<JobSharesResponse> {
    return this.shares.show(principal, query);
  }
}
