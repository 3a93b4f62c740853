import type { Principal } from '#src/auth/index.js';
import type { EventLog, Feed } from '#src/events/index.js';
import type { RequestClass } from '#src/http/index.js';
import type { Clock } from '#src/kernel/index.js';
import type { JsonRecord, SourceName } from '../store/webhook.entity.js';
import { readFilter } from './filter-values.js';

/** An event for one webhook. */
export interface SourceEvent {
  position: number;
  /** `job.changed`, `file.created`, … */
  type: string;
  /** Whose order is kept: a job, or a path. */
  subject: string;
  /** When it happened. */
  time: Date;
  data: object;
  /** What `maySee` needs to know of it later. */
  rights: JsonRecord;
}

/** Some events of a source, as read once for all webhooks that stand at the same position. */
export interface SourceBatch {
  /** How far it goes; not there when there is nothing behind the position. */
  end?: number;
  /** Those that the filter lets through and the principal may see, oldest first. */
  select(principal: Principal, filter: JsonRecord): Promise<SourceEvent[]>;
}

/** Where events come from: the feed of jobs, that of the catalogue. */
export abstract class WebhookSource<Event extends { position: number } = never> {
  abstract readonly name: SourceName;
  /** It takes this scope, beside `webhooks`, to be told of its events. */
  abstract readonly scope: 'jobs:read' | 'catalogue:read';

  protected constructor(
    private readonly feed: Feed<Event>,
    private readonly log: EventLog,
    private readonly filterClass: RequestClass,
    private readonly clock: Clock,
  ) {}

  /** Whether the principal may see an event, as things are now. */
  abstract maySee(principal: Principal, filter: JsonRecord, rights: JsonRecord): Promise<boolean>;

  protected abstract select(
    events: readonly Event[],
    principal: Principal,
    filter: JsonRecord,
    readAt: Date,
  ): Promise<SourceEvent[]>;

  /** Throws Problem 400 for a filter that it does not understand. */
  checkFilter(filter: JsonRecord): void {
    readFilter(this.filterClass, filter);
  }

  /** Position of the latest event. */
  latest(): Promise<number> {
    return this.feed.latest();
  }

  /** Events behind a position. Throws Problem 410 `feed.gone` when some of them are not kept any more. */
  async read(after: number, limit: number): Promise<SourceBatch> {
    const { events, upto } = await this.feed.read({ position: after }, limit);
    const readAt = new Date(this.clock.now());
    return {
      ...(upto > after && { end: upto }),
      select: (principal, filter) => this.select(events, principal, filter, readAt),
    };
  }

  /** Calls the listener when there may be news of the log itself: the feed keeps events in memory while it has listeners. */
  onNews(listener: () => void): () => void {
    return this.log.onNews(this.name, listener);
  }
}

/** Injection token of the sources. */
export const WEBHOOK_SOURCES = Symbol('WebhookSources');
