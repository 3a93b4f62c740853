import { Inject, Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { actorOf, requestOf, type Principal } from '#src/auth/index.js';
import { Audit } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { JsonText, type QueryValues } from '#src/http/index.js';
import { JobAccess } from '../access/job-access.service.js';
import { idRanges } from '../state/job.js';
import { JobListRepository, type ListedJob } from './job-list.repository.js';
import { JobPolicy } from '../access/job.policy.js';
import type { JobListResponse, JobResponse } from './job.response.js';
import {
  groupsOf,
  MOST_COUNTS,
  wantedOf,
  writeCursor,
  type JobSummaryQuery,
  type ListJobsQuery,
  type SummaryGroup,
} from './list-jobs.query.js';

/** A page for the caller, and where the next one begins. */
export interface JobListAnswer {
  body: JsonText<JobListResponse>;
  /** Position of the feed at which the page was read. */
  position: string;
  /** Cursor of the next page; undefined on the last one. */
  after?: string;
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

  /** GET /jobs. Throws Problem 400 for a cursor of another list. */
  async list(principal: Principal, asked: ListJobsQuery): Promise<JobListAnswer> {
    const query = wantedOf(asked, this.config.maxJobs);
    const visibility = this.policy.visibility(principal, query.allOwners);
    const page = await this.lists.list(query, visibility);
    this.noteRead(principal, page.jobs);
    const { entries, jobs, position, end } = page;
    const text = `{"entries":${entries},"jobs":[${jobs.map(({ record }) => record).join(',')}]}`;
    const body = new JsonText<JobListResponse>(text);
    return { body, position, ...(end && { after: writeCursor(query.sort, end) }) };
  }

  /** GET /jobs/summary. Throws Problem 400 when it would have more than MOST_COUNTS counts. */
  async summary(principal: Principal, query: JobSummaryQuery): Promise<Record<string, number>> {
    const visibility = this.policy.visibility(principal, query.allOwners);
    const groups = groupsOf(query);
    const by = { groups: groups.map(({ attribute }) => attribute), limit: MOST_COUNTS + 1 };
    const counts = await this.lists.summary(query, visibility, by);
    if (counts.size <= MOST_COUNTS) return Object.fromEntries(counts);
    const spread = await this.lists.spread(query, visibility, by);
    const widest = spread.indexOf(Math.max(...spread));
    throw tooManyCounts(groups[widest]?.name ?? '', groups);
  }

  /** GET /jobs/<jid>. */
  async get(principal: Principal, jid: string): Promise<JsonText<JobResponse>> {
    return new JsonText((await this.access.read(principal, jid)).record);
  }

  /**
   * `Link` to the page that begins behind the cursor, of a list that was asked for with these values. The token of the
   * query form is not repeated: links are logged and shared.
   */
  linkTo(after: string, values: QueryValues): string {
    const next = new URLSearchParams();
    for (const key of values.keys()) {
      if (['access_token', 'startJob', 'after'].includes(key)) continue;
      for (const value of values.all(key)) next.append(key, value);
    }
    next.set('after', after);
    return `<${this.config.publicUrl.replace(/\/$/, '')}/jobs?${next.toString()}>; rel="next"`;
  }

  private noteRead(principal: Principal, jobs: readonly ListedJob[]): void {
    const others = jobs.flatMap(({ ownership }) => ownership ?? []);
    const read = others.filter((job) => this.policy.readsByPrivilege(principal, job, 'record'));
    if (read.length === 0) return;
    const details = { what: 'list', jobs: read.length, jids: idRanges(read.map(({ jid }) => jid)) };
    const origin = { request: requestOf(principal), actor: actorOf(principal) };
    this.audit.done('job.read', details, origin);
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
