import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Audited } from '#src/platform/index.js';
import { JID_PARAM } from '../state/job.openapi.js';
import { JobIdResponse } from './job-control.response.js';
import { JobHoldService } from './job-hold.service.js';

/** Waiting jobs that are not to run for the time being. */
@ApiTags('jobs')
@ApiParam(JID_PARAM)
@ApiNotFoundResponse({ description: 'Unknown or not visible' })
@ApiConflictResponse({ description: 'It does not wait (`jobStatus`)' })
@Controller('jobs/:jid')
export class JobHoldController {
  constructor(private readonly holds: JobHoldService) {}

  /** Holds a waiting job back until it is released. */
  @Post('hold')
  @HttpCode(200)
  @Access('bearer', 'jobs:kill')
  @Audited('job.held', ({ params }) => ({ jids: [params['jid']] }))
  @ApiOperation({ operationId: 'holdJob', summary: 'Hold a waiting job back' })
  @ApiOkResponse({ type: JobIdResponse })
  @ApiForbiddenResponse({ description: 'Not yours to change' })
  async hold(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobIdResponse> {
    return { jid: await this.holds.hold(principal, jid) };
  }

  /** Lets a held job wait for its turn again. */
  @Post('release')
  @HttpCode(200)
  @Access('bearer', 'jobs:kill')
  @Audited('job.released', ({ params }) => ({ jids: [params['jid']] }))
  @ApiOperation({ operationId: 'releaseJob', summary: 'Release a held job' })
  @ApiOkResponse({ type: JobIdResponse })
  @ApiForbiddenResponse({ description: 'Not yours to change, or held by an administrator' })
  async release(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobIdResponse> {
    return { jid: await this.holds.release(principal, jid) };
  }
}
