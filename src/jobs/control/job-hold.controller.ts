import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiConflictResponse, ApiNotFoundResponse, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Audited } from '#src/audit/index.js';
import { JobIdResponse } from './job-control.response.js';
import { JobHoldService } from './job-hold.service.js';
import { JobId } from '../state/job.openapi.js';

/** Waiting jobs that are not to run for the time being. */
@ApiNotFoundResponse({ description: 'Unknown or not visible' })
@ApiConflictResponse({ description: 'It does not wait (`jobStatus`)' })
@ApiTags('jobs')
@Controller('jobs/:jid')
export class JobHoldController {
  constructor(private readonly holds: JobHoldService) {}

  /**
   * Hold a waiting job back.
   *
   * @remarks It starts no run until it is released.
   * @throws {403} Not yours to change
   */
  @Post('hold')
  @HttpCode(200)
  @Access('bearer', 'jobs:kill')
  @Audited('job.held', ({ params }) => ({ jids: [params['jid']] }))
  async holdJob(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<JobIdResponse> {
    return { jid: await this.holds.hold(principal, jid) };
  }

  /**
   * Release a held job.
   *
   * @remarks It waits again, for a site or for the jobs that it depends on.
   * @throws {403} Not yours to change, or held by an administrator
   */
  @Post('release')
  @HttpCode(200)
  @Access('bearer', 'jobs:kill')
  @Audited('job.released', ({ params }) => ({ jids: [params['jid']] }))
  async releaseJob(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<JobIdResponse> {
    return { jid: await this.holds.release(principal, jid) };
  }
}
