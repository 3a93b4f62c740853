import { Injectable } from '@nestjs/common';
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
import type { JsonRecord } from '../store/webhook.entity.js';
import { readFilter } from './filter-values.js';
import type { SourceBatch, SourceEvent, WebhookSource } from './webhook-source.js';

/** Who has a job: enough to say later who may see it. */
type Ownership = Parameters<JobPolicy['mayRead']>[1];

/** Moves of jobs. */
@Injectable()
export class JobSource implements WebhookSource {
  readonly name = 'jobs';
  readonly scope = 'jobs:read';

  constructor(
    private readonly feed: JobFeed,
    private readonly log: EventLog,
    private readonly policy: JobPolicy,
  ) {}

  checkFilter(filter: JsonRecord): void {
    readFilter(JobSelectionQuery, filter);
  }

  latest(): Promise<number> {
    return this.feed.latest();
  }

  async read(after: number, limit: number): Promise<SourceBatch> {
    const { events, upto } = await this.feed.read({ position: after }, limit);
    return {
      ...(upto > after && { end: upto }),
      select: (principal, filter) => Promise.resolve(this.select(events, principal, filter)),
    };
  }

  /** The record's own rule, and without `allOwners` own jobs alone. */
  maySee(principal: Principal, filter: JsonRecord, rights: JsonRecord): Promise<boolean> {
    const job = rights as Ownership;
    const { allOwners } = readFilter(JobSelectionQuery, filter);
    const isWanted = allOwners || job.owner === principal.user;
    return Promise.resolve(isWanted && this.policy.mayRead(principal, job));
  }

  /** Of the log itself: the feed keeps events in memory while it has listeners. */
  onNews(listener: () => void): () => void {
    return this.log.onNews('jobs', listener);
  }

  private select(
    events: readonly JobEvent[],
    principal: Principal,
    filter: JsonRecord,
  ): SourceEvent[] {
    const query = readFilter(JobSelectionQuery, filter);
    const tells = jobSelector(query, this.policy.visibility(principal, query.allOwners));
    return events.filter((event) => tells(event) === 'job').map(eventOf);
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
