import { Inject, Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { actorOf, requestOf, type Principal } from '#src/auth/index.js';
import { Audit, CONFIG, type Config, type QueryValues } from '#src/platform/index.js';
import { JobAccess } from '../access/job-access.service.js';
import type { Job } from '../state/job.entity.js';
import { idRanges } from '../state/job.js';
import { JobListRepository } from './job-list.repository.js';
import { JobPolicy } from '../access/job.policy.js';
import { JobResponse, type JobListResponse } from './job.response.js';
import { MOST_COUNTS } from './job-filters.openapi.js';
import {
  readListJobsQuery,
  readSummaryQuery,
  writeCursor,
  type SummaryGroup,
} from './list-jobs.query.js';

/** A page for the caller, and the address of the next one. */
export interface JobListAnswer {
  body: JobListResponse;
  /** Value of the `Link` header; undefined on the last page. */
  link?: string;
}

/** Lists, summaries and records. */
@Injectable()
export class JobsService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly access: JobAccess,
    private readonly policy: JobPolicy,
    private readonly lists: JobListRepository,
    private readonly audit: Audit,
  ) {}

  /** GET /jobs. Throws Problem 400 naming every bad key of the query. */
  async list(principal: Principal, values: QueryValues): Promise<JobListAnswer> {
    const query = readListJobsQuery(values, this.config.maxJobs);
    const visibility = this.policy.visibility(principal, query.allOwners);
    const page = await this.lists.list(query, visibility);
    this.noteRead(principal, page.jobs);
    const body = { entries: page.entries, jobs: page.jobs.map((job) => JobResponse.from(job)) };
    if (!page.end) return { body };
    return { body, link: this.nextLink(values, writeCursor(query.sort, page.end)) };
  }

  /** GET /jobs/summary. Throws Problem 400 when it would have more than MOST_COUNTS counts. */
  async summary(principal: Principal, values: QueryValues): Promise<Record<string, number>> {
    const query = readSummaryQuery(values);
    const visibility = this.policy.visibility(principal, query.allOwners);
    const by = { groups: query.groups.map(({ attribute }) => attribute), limit: MOST_COUNTS + 1 };
    const counts = await this.lists.summary(query, visibility, by);
    if (counts.size <= MOST_COUNTS) return Object.fromEntries(counts);
    const spread = await this.lists.spread(query, visibility, by);
    const widest = spread.indexOf(Math.max(...spread));
    throw tooManyCounts(query.groups[widest]?.name ?? '', query.groups);
  }

  /** GET /jobs/<jid>. */
  async get(principal: Principal, jid: string): Promise<JobResponse> {
    return JobResponse.from(await this.access.read(principal, jid));
  }

  private noteRead(principal: Principal, jobs: readonly Job[]): void {
    const read = jobs.filter((job) => this.policy.readsByPrivilege(principal, job, 'record'));
    if (read.length === 0) return;
    const details = { what: 'list', jobs: read.length, jids: idRanges(read.map(({ jid }) => jid)) };
    const origin = { request: requestOf(principal), actor: actorOf(principal) };
    this.audit.done('job.read', details, origin);
  }

  /** The token of the query form is not repeated: links are logged and shared. */
  private nextLink(values: QueryValues, after: string): string {
    const next = new URLSearchParams();
    for (const key of values.keys()) {
      if (['access_token', 'startJob', 'after'].includes(key)) continue;
      for (const value of values.all(key)) next.append(key, value);
    }
    next.set('after', after);
    return `<${this.config.publicUrl.replace(/\/$/, '')}/jobs?${next.toString()}>; rel="next"`;
  }
}

/** What most lists of jobs are counted by, each with few values. */
const FEW_VALUES = ['Status', 'MinorStatus', 'Site', 'Owner', 'OwnerGroup', 'JobType'];

function tooManyCounts(name: string, groups: readonly SummaryGroup[]): Problem {
  const asked = new Set(groups.map(({ attribute }) => attribute.attribute));
  const others = FEW_VALUES.filter((attribute) => !asked.has(attribute)).join(', ');
  return Problem.invalidField(
    'group',
    `${name} has too many values: there would be more than ${MOST_COUNTS} counts. Group by attributes with few values instead (${others}), or filter`,
  );
}
