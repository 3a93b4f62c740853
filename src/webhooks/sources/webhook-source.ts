import type { Principal } from '#src/auth/index.js';
import type { JsonRecord, SourceName } from '../store/webhook.entity.js';

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
export interface WebhookSource {
  readonly name: SourceName;
  /** It takes this scope, beside `webhooks`, to be told of its events. */
  readonly scope: 'jobs:read' | 'catalogue:read';
  /** Throws Problem 400 for a filter that it does not understand. */
  checkFilter(filter: JsonRecord): void;
  /** Position of the latest event. */
  latest(): Promise<number>;
  /** Events behind a position. Throws Problem 410 `feed.gone` when some of them are not kept any more. */
  read(after: number, limit: number): Promise<SourceBatch>;
  /** Whether the principal may see an event, as things are now. */
  maySee(principal: Principal, filter: JsonRecord, rights: JsonRecord): Promise<boolean>;
  /** Calls the listener when there may be news. */
  onNews(listener: () => void): () => void;
}

/** Injection token of the sources. */
export const WEBHOOK_SOURCES = Symbol('WebhookSources');
