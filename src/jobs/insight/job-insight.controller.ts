import { Controller, Get, Param } from '@nestjs/common';
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
import { ManifestRequest } from '../manifest/manifest.request.js';
import { JID_PARAM } from '../state/job.openapi.js';
import { JobExplainResponse, JobHistoryResponse, JobPeekResponse } from './job-insight.response.js';
import { JobInsightService } from './job-insight.service.js';

/** What else is to be known of one job. */
@ApiTags('jobs')
@ApiParam(JID_PARAM)
@ApiNotFoundResponse({ description: 'Unknown or not visible' })
@Controller('jobs/:jid')
export class JobInsightController {
  constructor(private readonly insight: JobInsightService) {}

  /** The manifest of a job with the keys that the service has added. */
  @Get('manifest')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'getJobManifest', summary: 'The manifest of a job' })
  @ApiOkResponse({ type: ManifestRequest })
  @ApiForbiddenResponse({ description: 'Not yours to read' })
  async manifest(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<object> {
    return this.insight.manifest(principal, jid);
  }

  /** Every move of the job, oldest first. */
  @Get('history')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'getJobHistory', summary: 'Every move of a job, oldest first' })
  @ApiOkResponse({ type: JobHistoryResponse })
  async history(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobHistoryResponse> {
    return this.insight.history(principal, jid);
  }

  /** What was measured and noted: exit code, CPU and wall time, host. */
  @Get('parameters')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'getJobParameters', summary: 'Parameters of a job' })
  @ApiOkResponse({
    description: 'Name → value',
    schema: { $ref: '#/components/schemas/JobParameters' },
  })
  async parameters(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<Record<string, unknown>> {
    return this.insight.parameters(principal, jid);
  }

  /** The end of what the job has written so far. */
  @Get('peek')
  @Access('bearer', 'jobs:read')
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
  @ApiOperation({ operationId: 'explainJob', summary: 'Why a job still waits' })
  @ApiOkResponse({ type: JobExplainResponse })
  async explain(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobExplainResponse> {
    return this.insight.explain(principal, jid);
  }
}
