import { Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Audited } from '#src/platform/index.js';
import { isAsked } from '../access/asked-flag.js';
import { ARRAY_ID_PARAM } from '../state/job.openapi.js';
import { KillArrayQuery } from './arrays.query.js';
import { ArrayKillResponse, ArrayResponse, ArrayRetryResponse } from './arrays.response.js';
import { ArraysService } from './arrays.service.js';

/** Arrays: jobs of one submit, looked at and controlled together. */
@ApiTags('jobs')
@ApiParam(ARRAY_ID_PARAM)
@ApiNotFoundResponse({ description: 'Unknown or not visible' })
@Controller('jobs/arrays/:arrayId')
export class ArraysController {
  constructor(private readonly arrays: ArraysService) {}

  /** How many members of an array are in which state. */
  @Get()
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'getArray', summary: 'An array and the states of its members' })
  @ApiOkResponse({ type: ArrayResponse })
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param('arrayId') arrayId: string,
  ): Promise<ArrayResponse> {
    return this.arrays.get(principal, arrayId);
  }

  /** Kills every member that has not ended. To repeat it is harmless. */
  @Delete()
  @Access('bearer', 'jobs:kill', 'compute.cancel')
  @Audited<ArrayKillResponse>('job.killed', (request, answer) => ({
    arrayId: request.params['arrayId'],
    killed: answer?.killed,
    purge: isAsked(request, 'purge'),
  }))
  @ApiOperation({ operationId: 'killArray', summary: 'Kill the members of an array' })
  @ApiOkResponse({ type: ArrayKillResponse })
  @ApiForbiddenResponse({ description: 'Not yours to change' })
  async kill(
    @CurrentPrincipal() principal: Principal,
    @Param('arrayId') arrayId: string,
    @Query() { purge }: KillArrayQuery,
  ): Promise<ArrayKillResponse> {
    return this.arrays.kill(principal, arrayId, purge);
  }

  /** Sends every failed member back to the queue. To repeat it is harmless: only those that have failed anew run again. */
  @Post('retry')
  @HttpCode(200)
  @Access('bearer', 'jobs:kill', 'compute.modify')
  @Audited<ArrayRetryResponse>('job.rescheduled', (request, answer) => ({
    arrayId: request.params['arrayId'],
    jobs: answer?.retried,
  }))
  @ApiOperation({ operationId: 'retryArray', summary: 'Run the failed members of an array again' })
  @ApiOkResponse({ type: ArrayRetryResponse })
  @ApiForbiddenResponse({ description: 'Not yours to change' })
  async retry(
    @CurrentPrincipal() principal: Principal,
    @Param('arrayId') arrayId: string,
  ): Promise<ArrayRetryResponse> {
    return this.arrays.retry(principal, arrayId);
  }
}
