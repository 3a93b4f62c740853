import { Controller, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiNotFoundResponse, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Audited } from '#src/audit/index.js';
import { isAsked } from '../access/asked-flag.js';
import { KillArrayQuery } from './arrays.query.js';
import { ArrayKillResponse, ArrayResponse, ArrayRetryResponse } from './arrays.response.js';
import { ArraysService } from './arrays.service.js';
import { ArrayId } from '../state/job.openapi.js';

/** Arrays: jobs of one submit, looked at and controlled together. */
@ApiNotFoundResponse({ description: 'Unknown or not visible' })
@ApiTags('jobs')
@Controller('jobs/arrays/:arrayId')
export class ArraysController {
  constructor(private readonly arrays: ArraysService) {}

  /**
   * An array and the states of its members.
   *
   * @remarks How many members it has and how many of them are in which state.
   */
  @Get()
  @Access('bearer', 'jobs:read')
  async getArray(
    @CurrentPrincipal() principal: Principal,
    @ArrayId() arrayId: string,
  ): Promise<ArrayResponse> {
    return this.arrays.get(principal, arrayId);
  }

  /**
   * Kill the members of an array.
   *
   * @remarks Those that have ended stay as they are. To repeat it is harmless.
   * @throws {403} Not yours to change
   */
  @Delete()
  @Access('bearer', 'jobs:kill', 'compute.cancel')
  @Audited<ArrayKillResponse>('job.killed', (request, answer) => ({
    arrayId: request.params['arrayId'],
    killed: answer?.killed,
    purge: isAsked(request, 'purge'),
  }))
  async killArray(
    @CurrentPrincipal() principal: Principal,
    @ArrayId() arrayId: string,
    @Query() { purge }: KillArrayQuery,
  ): Promise<ArrayKillResponse> {
    return this.arrays.kill(principal, arrayId, purge);
  }

  /**
   * Run the failed members of an array again.
   *
   * @remarks To repeat it is harmless: only those that have failed anew run again.
   * @throws {403} Not yours to change
   * @throws {429} More jobs would wait than may; see Retry-After
   */
  @Post('retry')
  @HttpCode(200)
  @Access('bearer', 'jobs:kill', 'compute.modify')
  @Audited<ArrayRetryResponse>('job.rescheduled', (request, answer) => ({
    arrayId: request.params['arrayId'],
    jobs: answer?.retried,
  }))
  async retryArray(
    @CurrentPrincipal() principal: Principal,
    @ArrayId() arrayId: string,
  ): Promise<ArrayRetryResponse> {
    return this.arrays.retry(principal, arrayId);
  }
}
