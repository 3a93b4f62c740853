import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { Audited } from '#src/platform/index.js';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { JobControlService } from './job-control.service.js';
import { JobInsightService } from './job-insight.service.js';
import { JID_PARAM } from './job-filters.openapi.js';
import {
  JobExplainResponse,
  JobHistoryResponse,
  JobIdResponse,
  JobPeekResponse,
} from './job.response.js';
import { JobsService } from './jobs.service.js';
import { QueryKeys } from './query-keys.decorator.js';

/** What else is to be known of one job, and its way back to the queue. */
@ApiTags('jobs')
@ApiParam(JID_PARAM)
@ApiNotFoundResponse({ description: 'Unknown or not visible' })
@Controller('jobs/:jid')
export class JobDetailsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly insight: JobInsightService,
    private readonly control: JobControlService,
  ) {}

  /** Every move of the job, oldest first. */
  @Get('history')
  @Access('bearer', 'jobs:read')
  @QueryKeys()
  @ApiOperation({ operationId: 'getJobHistory', summary: 'Every move of a job, oldest first' })
  @ApiOkResponse({ type: JobHistoryResponse })
  async history(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobHistoryResponse> {
    return this.jobs.history(principal, jid);
  }

  /** What was measured and noted: exit code, CPU and wall time, host. */
  @Get('parameters')
  @Access('bearer', 'jobs:read')
  @QueryKeys()
  @ApiOperation({ operationId: 'getJobParameters', summary: 'Parameters of a job' })
  @ApiOkResponse({
    description: 'Name → value',
    schema: { $ref: '#/components/schemas/JobParameters' },
  })
  async parameters(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<Record<string, unknown>> {
    return this.jobs.parameters(principal, jid);
  }

  /** The end of what the job has written so far. */
  @Get('peek')
  @Access('bearer', 'jobs:read')
  @QueryKeys()
  @ApiOperation({ operationId: 'peekJob', summary: 'The end of the running output' })
  @ApiOkResponse({ type: JobPeekResponse })
  @ApiForbiddenResponse({ description: 'Not yours to read' })
  @ApiConflictResponse({ description: 'The job does not run' })
  async peek(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobPeekResponse> {
    return this.insight.peek(principal, jid);
  }

  /** Why the job still waits, for each site. */
  @Get('explain')
  @Access('bearer', 'jobs:read')
  @QueryKeys()
  @ApiOperation({ operationId: 'explainJob', summary: 'Why a job still waits' })
  @ApiOkResponse({ type: JobExplainResponse })
  async explain(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobExplainResponse> {
    return this.insight.explain(principal, jid);
  }

  /** Sends the job back to the queue. */
  @Post('reschedule')
  @HttpCode(200)
  @Access('bearer', 'jobs:kill')
  @QueryKeys()
  @Audited('job.rescheduled', ({ params }) => ({ jids: [params['jid']] }))
  @ApiOperation({ operationId: 'rescheduleJob', summary: 'Run a job again' })
  @ApiOkResponse({ type: JobIdResponse })
  @ApiForbiddenResponse({ description: 'Not yours to change' })
  @ApiConflictResponse({ description: 'Its state does not allow it, or it was done too often' })
  async reschedule(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobIdResponse> {
    return { jid: await this.control.reschedule(principal, jid) };
  }
}
