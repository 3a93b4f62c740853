import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import {
  BATCH_BACKENDS,
  RegistryService,
  type RegistrySnapshot,
  type Site,
} from '#src/registry/index.js';
import { JobAccess } from '../access/job-access.service.js';
import { lackOf, resourcesOf, type JobResources } from '../manifest/resources.js';
import { Dependencies } from '../dependencies/dependencies.js';
import type { LiveExecutor } from '../matching/dispatch.repository.js';
import { machineFault, placeFault, PlaceReport } from '../matching/place-report.js';
import { LimitObstacles, type Obstacles } from './limit-obstacles.js';
import { QueuePlace, type Ahead } from './queue-place.js';
import type { Job } from '../state/job.entity.js';
import { isFinal, isRunning } from '../state/job-state.js';
import { JobsRepository } from '../state/jobs.repository.js';
import type { JobBatchQueueResponse, JobExplainResponse } from './job-insight.response.js';

const MOST_NAMED = 5;
/** Whether there is a site of the name for others is not told. */
const NOT_THERE = 'There is no such site for its setup and virtual organisation';
const NO_LIMITS: Obstacles = { sites: new Map() };

/** Why a job still waits. */
@Injectable()
export class JobExplainService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly access: JobAccess,
    private readonly jobs: JobsRepository,
    private readonly places: PlaceReport,
    private readonly queue: QueuePlace,
    private readonly limits: LimitObstacles,
    private readonly dependencies: Dependencies,
    private readonly registry: RegistryService,
  ) {}

  /** Why the job does not run yet, for each site that runs jobs of its setup and virtual organisation, or that it names. */
  async explain(principal: Principal, jid: string): Promise<JobExplainResponse> {
    const job = await this.access.again(principal, await this.access.read(principal, jid));
    const others = await this.dependencies.waitsFor(principal, job);
    const registry = await this.registry.current();
    const now = this.clock.now();
    const live = await this.places.live();
    const isQueued = job.status === 'Waiting' && job.heldBy === null;
    const ahead = isQueued ? await this.queue.ahead(principal, job, registry) : { jobs: 0 };
    const wanted = resourcesOf((await this.jobs.manifest(job.jid)) ?? {});
    const open = registry.sitesOf(job);
    const limits = isQueued
      ? await this.limits.of({ ...job, tags: wanted.tags }, registry, open)
      : NO_LIMITS;
    const sites = open.map((site): [string, SiteReason] => [
      site.name,
      reasonAt(job, site, { now, live, ahead, wanted, limits, registry }),
    ]);
    for (const name of job.status === 'Waiting' ? job.wantedSites : []) {
      if (!sites.some(([known]) => known === name)) sites.push([name, { reason: NOT_THERE }]);
    }
    return {
      jid: job.jid,
      status: job.status,
      waitsFor: others ?? waitsFor(job, sites, ahead),
      ...(isQueued && { place: ahead.jobs + 1 }),
      ...(ahead.share && { share: ahead.share }),
      batchQueue: batchQueueOf(job),
      sites: Object.fromEntries(sites.map(([name, { reason }]) => [name, reason])),
    };
  }
}

interface Now {
  /** Milliseconds since 1970. */
  now: number;
  live: ReadonlyMap<string, LiveExecutor>;
  ahead: Ahead;
  wanted: JobResources;
  limits: Obstacles;
  registry: RegistrySnapshot;
}

/** Why a job does not run at a site; `isOpen` where it only waits for its turn, `isLimited` where for the end of others. */
interface SiteReason {
  reason: string;
  isOpen?: true;
  isLimited?: true;
  /** Of the place where it was matched: what can be said of its start. */
  ofStart?: string;
}

function reasonAt(job: Job, site: Site, now: Now): SiteReason {
  if (job.status === 'Matched' && job.site === site.name) {
    const ofStart = startOf(job, placeFault(site, now.live));
    return {
      reason: `The job is ${isSubmitted(job) ? 'queued' : 'Matched'} here${ofStart}`,
      ofStart,
    };
  }
  const reason = obstacleAt(job, site, now);
  if (reason !== undefined) return { reason };
  const limit =
    job.status === 'Waiting'
      ? (now.limits.everywhere ?? now.limits.sites.get(site.name))
      : undefined;
  if (limit !== undefined) return { reason: limit, isLimited: true };
  return { reason: `Waits for a free slot; ${inFront(now.ahead)}`, isOpen: true };
}

function obstacleAt(job: Job, site: Site, now: Now): string | undefined {
  if (job.bannedSites.includes(site.name)) return 'It is among the BannedSites of the job';
  if (job.wantedSites.length > 0 && !job.wantedSites.includes(site.name)) {
    return 'It is not among the Sites of the job';
  }
  if (job.status === 'Received' || job.status === 'Checking') {
    return 'The job is still being checked';
  }
  if (job.status !== 'Waiting') {
    if (job.site !== site.name) return `The job is ${job.status}`;
    return `The job is ${job.status} here`;
  }
  if (job.heldBy !== null) {
    return job.heldBy === 'jobs' ? 'The job waits for other jobs' : 'The job is held';
  }
  const lack = lackOf(site, now.wanted);
  if (lack !== undefined) return `It cannot hold the job: ${lack}`;
  const drain = now.registry.drainOf(site.name);
  if (drain) return `It is drained since ${drain.since}${drain.reason && `: ${drain.reason}`}`;
  return placeFault(site, now.live) ?? machineFault(site, now.wanted, now.live, now.now);
}

/** It was given to a batch system, which starts it when it likes. */
function isSubmitted({ status, executor }: Job): boolean {
  return status === 'Matched' && BATCH_BACKENDS.includes(executor?.split(':')[0] ?? '');
}

function batchQueueOf(job: Job): JobBatchQueueResponse | undefined {
  if (job.batchWait === null || !isSubmitted(job)) return undefined;
  const { reason, meaning, expectedStart, asOf } = job.batchWait;
  return { reason, meaning, expectedStart, asOf };
}

/** What the batch system says of a start that is to come, and why nothing can start there, as sentences to add. */
function startOf(job: Job, fault?: string): string {
  const told = batchQueueOf(job);
  const sentences = [
    ...(told ? [`Slurm said at ${told.asOf}: ${told.reason}`, told.meaning] : []),
    told?.expectedStart && `It is expected to start at ${told.expectedStart}`,
    isSubmitted(job) && !told && 'Slurm has not been asked about it yet',
    fault,
  ];
  return sentences.map((sentence) => (sentence ? `. ${sentence}` : '')).join('');
}

function inFront({ jobs, share }: Ahead): string {
  const owners = share?.ownersBefore;
  if (jobs === 0 && !owners) return 'it is the next one';
  const of = share === undefined ? '' : ' of its owner';
  const parts = [
    ...(jobs > 0 ? [`${jobs} ${jobs === 1 ? 'job' : 'jobs'}${of}`] : []),
    ...(owners ? [`${owners} other ${owners === 1 ? 'owner' : 'owners'}`] : []),
  ];
  const verb = jobs + (owners ?? 0) === 1 ? 'is' : 'are';
  return `${parts.join(' and ')} ${verb} in front of it`;
}

/** In one sentence for people: what a job waits for, or what has become of it. */
function waitsFor(
  job: Job,
  sites: readonly (readonly [string, SiteReason])[],
  ahead: Ahead,
): string {
  const { status, heldBy, minorStatus, appStatus, site } = job;
  if (isFinal(status)) {
    const detail = appStatus === 'Unknown' ? minorStatus : `${minorStatus}: ${appStatus}`;
    return `Nothing: it has ended as ${status} (${detail})`;
  }
  if (isRunning(status) || status === 'Completed') return `Nothing: it is ${status} at ${site}`;
  if (status === 'Matched') {
    const ofStart = sites.find(([name]) => name === site)?.[1].ofStart ?? startOf(job);
    return isSubmitted(job)
      ? `Its start: it is queued at ${site}${ofStart}`
      : `Its start at ${site}, which has a place for it${ofStart}`;
  }
  if (status !== 'Waiting') return 'The end of its check: its input data is looked up';
  if (heldBy !== null) {
    return heldBy === 'owner'
      ? 'Its release: it is held by its owner'
      : 'Its release by an administrator, who holds it';
  }
  const open = sites.filter(([, { isOpen }]) => isOpen).map(([name]) => name);
  if (open.length > 0) return `A free place at ${shortList(open)}; ${inFront(ahead)}`;
  const limited = sites.filter(([, { isLimited }]) => isLimited);
  if (limited.length > 0) {
    const texts = new Set(limited.map(([, { reason }]) => reason));
    const named = limited.map(([name, { reason }]) => `${name}: ${reason}`);
    return `The end of other jobs. ${texts.size === 1 ? [...texts][0] : shortList(named)}`;
  }
  const reasons = sites.map(([name, { reason }]) => `${name}: ${reason}`);
  return reasons.length === 0
    ? 'A site: there is none for its setup and virtual organisation'
    : `A site that can run it (${shortList(reasons)})`;
}

function shortList(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
