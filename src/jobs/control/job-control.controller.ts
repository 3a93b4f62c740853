import { Controller, Delete, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiConflictResponse,
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Audited, type HttpRequest } from '#src/platform/index.js';
import { isAsked } from '../access/asked-flag.js';
import { idRanges } from '../state/job.js';
import { JID_PARAM } from '../state/job.openapi.js';
import { KillJobQuery, KillJobsQuery } from './job-control.query.js';
import { BulkKillResponse, JobIdResponse } from './job-control.response.js';
import { JobControlService } from './job-control.service.js';

/** Kill, delete and reschedule. */
@ApiTags('jobs')
@Controller('jobs')
export class JobControlController {
  constructor(private readonly control: JobControlService) {}

  /** Kills many jobs; each gets its own answer. */
  @Delete()
  @Access('bearer', 'jobs:kill', 'compute.cancel')
  @Audited<BulkKillResponse>('job.killed', killedJobs)
  @ApiOperation({ operationId: 'killJobs', summary: 'Kill many jobs' })
  @ApiOkResponse({ type: BulkKillResponse })
  @ApiBadRequestResponse({ description: 'No id, or a malformed one; nothing was killed' })
  async killMany(
    @CurrentPrincipal() principal: Principal,
    @Query() { jid = [], purge }: KillJobsQuery,
  ): Promise<BulkKillResponse> {
    return { results: await this.control.killMany(principal, jid, purge) };
  }

  /** Kills a job: its processes end within seconds, and it stays readable. */
  @Delete(':jid')
  @Access('bearer', 'jobs:kill', 'compute.cancel')
  @Audited('job.killed', (request) => ({
    jids: [request.params['jid']],
    purge: isAsked(request, 'purge'),
  }))
  @ApiOperation({ operationId: 'killJob', summary: 'Kill a job' })
  @ApiParam(JID_PARAM)
  @ApiOkResponse({ type: JobIdResponse })
  @ApiForbiddenResponse({ description: 'Not yours to change' })
  @ApiNotFoundResponse({ description: 'Unknown or not visible' })
  @ApiConflictResponse({ description: 'Its state (`jobStatus`) does not allow it' })
  async kill(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
    @Query() { purge }: KillJobQuery,
  ): Promise<JobIdResponse> {
    return { jid: await this.control.kill(principal, jid, purge) };
  }

  /** Sends the job back to the queue. */
  @Post(':jid/reschedule')
  @HttpCode(200)
  @Access('bearer', 'jobs:kill', 'compute.modify')
  @Audited('job.rescheduled', ({ params }) => ({ jids: [params['jid']] }))
  @ApiOperation({ operationId: 'rescheduleJob', summary: 'Run a job again' })
  @ApiParam(JID_PARAM)
  @ApiOkResponse({ type: JobIdResponse })
  @ApiForbiddenResponse({ description: 'Not yours to change' })
  @ApiNotFoundResponse({ description: 'Unknown or not visible' })
  @ApiConflictResponse({ description: 'Its state does not allow it, or it was done too often' })
  async reschedule(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobIdResponse> {
    return { jid: await this.control.reschedule(principal, jid) };
  }
}

/** For the audit trail: which jobs of a bulk kill were killed, and how many were not. */
function killedJobs(request: HttpRequest, answer: BulkKillResponse | undefined) {
  const results = Object.entries(answer?.results ?? {});
  const jids = results.filter(([, { status }]) => status === 200).map(([jid]) => BigInt(jid));
  const [killed, refused] = [jids.length, results.length - jids.length];
  return { jids: idRanges(jids), killed, refused, purge: isAsked(request, 'purge') };
}
