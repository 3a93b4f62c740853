import { Controller, Get } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { ManifestRequest } from '../manifest/manifest.request.js';
import { JobExplainResponse, JobHistoryResponse, JobPeekResponse } from './job-insight.response.js';
import { JobExplainService } from './job-explain.service.js';
import { JobInsightService } from './job-insight.service.js';
import { JobId } from '../state/job.openapi.js';

/** What else is to be known of one job. */
@ApiNotFoundResponse({ description: 'Unknown or not visible' })
@ApiTags('jobs')
@Controller('jobs/:jid')
export class JobInsightController {
  constructor(
    private readonly insight: JobInsightService,
    private readonly explanations: JobExplainService,
  ) {}

  /**
   * The manifest of a job.
   *
   * @remarks With the keys that the service has added.
   * @throws {403} Not yours to read
   */
  @Get('manifest')
  @Access('bearer', 'jobs:read')
  @ApiOkResponse({ type: ManifestRequest })
  async getJobManifest(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<object> {
    return this.insight.manifest(principal, jid);
  }

  /**
   * Every move of a job, oldest first.
   *
   * @remarks Each with its time and who or what moved it.
   */
  @Get('history')
  @Access('bearer', 'jobs:read')
  async getJobHistory(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<JobHistoryResponse> {
    return this.insight.history(principal, jid);
  }

  /**
   * Parameters of a job.
   *
   * @remarks What was measured and noted: exit code, processor and wall time, host.
   */
  @Get('parameters')
  @Access('bearer', 'jobs:read')
  @ApiOkResponse({
    description: 'Name → value',
    schema: { $ref: '#/components/schemas/JobParameters' },
  })
  async getJobParameters(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<Record<string, unknown>> {
    return this.insight.parameters(principal, jid);
  }

  /**
   * The end of the running output.
   *
   * @remarks The last bytes of standard output and standard error, while the job runs.
   * @throws {403} Not yours to read
   * @throws {409} The job does not run
   */
  @Get('peek')
  @Access('bearer', 'jobs:read')
  async peekJob(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<JobPeekResponse> {
    return this.insight.peek(principal, jid);
  }

  /**
   * Why a job still waits.
   *
   *
   * @remarks What it waits for, how many jobs come before it, and for each site why it does not run there.
   */
  @Get('explain')
  @Access('bearer', 'jobs:read')
  async explainJob(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<JobExplainResponse> {
    return this.explanations.explain(principal, jid);
  }
}
