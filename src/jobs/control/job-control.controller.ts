import { Controller, Delete, HttpCode, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Audited } from '#src/audit/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { isAsked } from '../access/asked-flag.js';
import { idRanges } from '../state/job.js';
import { KillJobQuery, KillJobsQuery } from './job-control.query.js';
import { BulkKillResponse, JobIdResponse } from './job-control.response.js';
import { JobControlService } from './job-control.service.js';
import { JobId } from '../state/job.openapi.js';

/** Kill, delete and reschedule. */
@ApiTags('jobs')
@Controller('jobs')
export class JobControlController {
  constructor(private readonly control: JobControlService) {}

  /**
   * Kill many jobs.
   *
   * @remarks Each gets its own answer.
   * @throws {400} No id, or a malformed one; nothing was killed
   */
  @Delete()
  @Access('bearer', 'jobs:kill', 'compute.cancel')
  @Audited<BulkKillResponse>('job.killed', killedJobs)
  async killJobs(
    @CurrentPrincipal() principal: Principal,
    @Query() { jid = [], purge }: KillJobsQuery,
  ): Promise<BulkKillResponse> {
    return { results: await this.control.killMany(principal, jid, purge) };
  }

  /**
   * Kill a job.
   *
   * @remarks Its processes end within seconds, and it stays readable.
   * @throws {403} Not yours to change
   * @throws {404} Unknown or not visible
   * @throws {409} Its state (`jobStatus`) does not allow it
   */
  @Delete(':jid')
  @Access('bearer', 'jobs:kill', 'compute.cancel')
  @Audited('job.killed', (request) => ({
    jids: [request.params['jid']],
    purge: isAsked(request, 'purge'),
  }))
  async killJob(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
    @Query() { purge }: KillJobQuery,
  ): Promise<JobIdResponse> {
    return { jid: await this.control.kill(principal, jid, purge) };
  }

  /**
   * Run a job again.
   *
   * @remarks From the beginning, with the same manifest; how often that may be done is limited (`GRID_MAX_RESCHEDULES`).
   * @throws {403} Not yours to change
   * @throws {404} Unknown or not visible
   * @throws {409} Its state does not allow it, or it was done too often
   * @throws {429} More jobs would wait than may; see Retry-After
   */
  @Post(':jid/reschedule')
  @HttpCode(200)
  @Access('bearer', 'jobs:kill', 'compute.modify')
  @Audited('job.rescheduled', ({ params }) => ({ jids: [params['jid']] }))
  async rescheduleJob(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
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
