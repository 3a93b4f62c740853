import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import {
  JobFeed,
  jobEventData,
  JobPolicy,
  JobSelectionQuery,
  jobSelector,
  type JobEvent,
} from '#src/jobs/index.js';
import { EventLog } from '#src/events/index.js';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import type { JsonRecord } from '../store/webhook.entity.js';
import { readFilter } from './filter-values.js';
import { WebhookSource, type SourceEvent } from './webhook-source.js';

/** Who has a job: enough to say later who may see it. */
type Ownership = Parameters<JobPolicy['mayRead']>[1];

/** Moves of jobs. */
@Injectable()
export class JobSource extends WebhookSource<JobEvent> {
  readonly name = 'jobs';
  readonly scope = 'jobs:read';

  constructor(
    feed: JobFeed,
    log: EventLog,
    private readonly policy: JobPolicy,
    @Inject(CLOCK) clock: Clock,
  ) {
    super(feed, log, JobSelectionQuery, clock);
  }

  /** The record's own rule, and without `allOwners` own jobs alone. */
  maySee(principal: Principal, filter: JsonRecord, rights: JsonRecord): Promise<boolean> {
    const job = rights as Ownership;
    const { allOwners } = readFilter(JobSelectionQuery, filter);
    const isWanted = allOwners || job.owner === principal.user;
    return Promise.resolve(isWanted && this.policy.mayRead(principal, job));
  }

  protected select(
    events: readonly JobEvent[],
    principal: Principal,
    filter: JsonRecord,
  ): Promise<SourceEvent[]> {
    const query = readFilter(JobSelectionQuery, filter);
    const tells = jobSelector(query, this.policy.visibility(principal, query.allOwners));
    return Promise.resolve(events.filter((event) => tells(event) === 'job').map(eventOf));
  }
}

function eventOf(event: JobEvent): SourceEvent {
  const { owner, ownerGroup, setup, vo, jid, lastUpdate } = event.job;
  return {
    position: event.position,
    type: 'job.changed',
    subject: `job ${jid}`,
    time: lastUpdate,
    data: jobEventData(event),
    rights: { owner, ownerGroup, setup, vo },
  };
}
