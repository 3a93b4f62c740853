import { Inject, Injectable } from '@nestjs/common';
import { Problem, sleep, type JsonObject } from '#src/kernel/index.js';
import { requestOf, type Principal } from '#src/auth/index.js';
import {
  ChangeFeed,
  CONFIG,
  outOfTurn,
  type Config,
  type HttpRequest,
} from '#src/platform/index.js';
import { RegistryService, type Site } from '#src/registry/index.js';
import { JobAccess } from '../access/job-access.service.js';
import { lackOf, resourcesOf, type JobResources } from '../manifest/resources.js';
import { DispatchRepository } from '../matching/dispatch.repository.js';
import { PEEK_CHANNEL } from '../state/admission.js';
import type { Job } from '../state/job.entity.js';
import type { Jid } from '../state/job.js';
import { JobsRepository } from '../state/jobs.repository.js';
import type {
  JobExplainResponse,
  JobHistoryResponse,
  JobPeekResponse,
} from './job-insight.response.js';

const PEEK_TIMEOUT_MS = 4_000;

/** What else users ask about one job: manifest, history, parameters, the running output, and why it still waits. */
@Injectable()
export class JobInsightService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly access: JobAccess,
    private readonly jobs: JobsRepository,
    private readonly dispatch: DispatchRepository,
    private readonly registry: RegistryService,
    private readonly feed: ChangeFeed,
  ) {}

  /** GET /jobs/<jid>/manifest. */
  async manifest(principal: Principal, jid: string): Promise<JsonObject> {
    const job = await this.access.readManifest(principal, jid);
    return (await this.jobs.manifest(job.jid)) ?? {};
  }

  /** GET /jobs/<jid>/history. */
  async history(principal: Principal, jid: string): Promise<JobHistoryResponse> {
    const job = await this.access.read(principal, jid);
    const rows = await this.jobs.history(job.jid);
    const history = rows.map((row) => ({
      status: row.status,
      minorStatus: row.minorStatus,
      appStatus: row.appStatus,
      time: row.time.toISOString(),
      source: row.source,
    }));
    return { history };
  }

  /** GET /jobs/<jid>/parameters. */
  async parameters(principal: Principal, jid: string): Promise<Record<string, unknown>> {
    const job = await this.access.read(principal, jid);
    return this.jobs.parameters(job.jid);
  }

  /**
   * The end of the output of a running job, whichever instance runs it. Throws Problem 404, 403, 409 when it does not
   * run, and 503 when its instance does not answer.
   */
  async peek(principal: Principal, jid: string): Promise<JobPeekResponse> {
    const job = await this.access.readSandbox(principal, jid, 'output');
    if (!['Running', 'Stalled', 'Completing'].includes(job.status)) {
      throw notRunning(job.jid, job.status);
    }
    await this.dispatch.askPeek(job.jid);
    await this.feed.notify(PEEK_CHANNEL, String(job.jid));
    const output = await waitFor(
      () => this.dispatch.readPeek(job.jid),
      PEEK_TIMEOUT_MS,
      requestOf(principal),
    );
    if (output) return { stdout: output.stdout, stderr: output.stderr };
    // It may have ended while we waited; then there is a better answer than none.
    const now = await this.access.again(principal, job);
    if (now.status !== job.status) throw notRunning(now.jid, now.status);
    return { stdout: '', stderr: '' };
  }

  /** Why the job does not run yet, for each site of its setup. */
  async explain(principal: Principal, jid: string): Promise<JobExplainResponse> {
    const job = await this.access.read(principal, jid);
    const registry = await this.registry.current();
    const live = await this.dispatch.liveBackends(this.config.jobLease);
    const ahead = job.status === 'Waiting' ? await this.dispatch.jobsAhead(job.jid) : 0;
    const wanted = resourcesOf((await this.jobs.manifest(job.jid)) ?? {});
    const sites = registry
      .sitesOf(job.setup)
      .map((site) => [site.name, reasonOf(job, site, { live, ahead, wanted })] as const);
    return { jid: job.jid, status: job.status, sites: Object.fromEntries(sites) };
  }
}

interface Now {
  live: Set<string>;
  ahead: number;
  wanted: JobResources;
}

function reasonOf(job: Job, site: Site, now: Now): string {
  if (job.bannedSites.includes(site.name)) return 'It is among the BannedSites of the job';
  if (job.wantedSites.length > 0 && !job.wantedSites.includes(site.name)) {
    return 'It is not among the Sites of the job';
  }
  if (job.status === 'Received' || job.status === 'Checking') {
    return 'The job is still being checked';
  }
  if (job.status !== 'Waiting') {
    return job.site === site.name ? `The job is ${job.status} here` : `The job is ${job.status}`;
  }
  const lack = lackOf(site, now.wanted);
  if (lack !== undefined) return `It cannot hold the job: ${lack}`;
  if (!now.live.has(site.backend)) return `No ${site.backend} executor is running`;
  if (now.ahead === 1) return 'Waits for a free slot; 1 job is in front of it';
  if (now.ahead > 1) return `Waits for a free slot; ${now.ahead} jobs are in front of it`;
  return 'Waits for a free slot; it is the next one';
}

/** Waits until the condition holds; for instances that answer a peek. */
async function waitFor<T>(
  look: () => Promise<T | undefined>,
  timeoutMs: number,
  request?: HttpRequest,
): Promise<T | undefined> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = 10; ; pause = Math.min(200, pause * 2)) {
    const found = await look();
    if (found !== undefined || Date.now() > deadline) return found;
    await outOfTurn(request, () => sleep(pause));
  }
}

/** 409 for output of a job that does not run. */
function notRunning(jid: Jid, status: string): Problem {
  return new Problem('job.state-conflict', `Job ${jid} is ${status}: it has no running output`, {
    members: { jobStatus: status },
  });
}
