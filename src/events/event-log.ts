import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Problem, sleep, type BoundedQueue, type Clock } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import {
  type ChangeFeed,
  lockInTransaction,
  type Database,
  type Queryable,
} from '#src/database/index.js';
import type { Metrics, RunningTask, Scheduler, TaskOutcome } from '#src/runtime/index.js';
import type { EventLogRepository, LoggedPage } from './event-log.repository.js';
import { FEED_SOURCES, type FeedSource } from './event-log.entity.js';

/** Between looks for what an instance wrote that died before it could say so. */
const LOOK_MS = 1_000;
const CLEAN_MS = 60_000;
/** Numbering costs a commit: it comes no more often than this, however many transactions there are. */
const NUMBERED_EVERY_MS = 60;

const LOCKS = { jobs: 'jobsFeed', filecatalogue: 'catalogueFeed' } as const;
const CHANNELS = { jobs: 'feed_jobs', filecatalogue: 'feed_filecatalogue' } as const;

/** Reads at once of those who are further behind than what is kept in memory, at least. */
const READS_BEHIND = 3;

/** Whose work the log is made of. */
export interface EventLogParts {
  config: Config;
  clock: Clock;
  database: Database;
  changeFeed: ChangeFeed;
  metrics: Metrics;
  scheduler: Scheduler;
  repository: EventLogRepository;
}

/**
 * What has changed, in an order in which nothing is ever added before what somebody has read (docs/design/events.md). Whoever changes
 * something logs it in the same statement (`logEvents`), without a number; once that is committed one instance at a
 * time gives numbers, and readers see nothing but numbers.
 */
export class EventLog implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly listeners: Record<FeedSource, Set<() => void>> = {
    jobs: new Set(),
    filecatalogue: new Set(),
  };
  private readonly known: Record<FeedSource, number> = { jobs: 0, filecatalogue: 0 };
  private readonly numbering = new Map<FeedSource, RunningTask>();
  private readonly ends: (() => void)[] = [];

  private readonly behind: BoundedQueue;

  constructor(private readonly parts: EventLogParts) {
    const { permits } = parts.database;
    this.behind = permits.queue(Math.max(READS_BEHIND, permits.ofOneCaller + 1));
  }

  onApplicationBootstrap(): void {
    const { scheduler, changeFeed, metrics } = this.parts;
    for (const source of FEED_SOURCES) {
      const run = ({ signal }: { signal: AbortSignal }): Promise<TaskOutcome> =>
        this.number(source, signal);
      const often = { firstMs: 0, everyMs: 3_600_000, retryMs: LOOK_MS };
      this.numbering.set(source, scheduler.add({ name: `feed.${source}`, ...often, run }));
      this.ends.push(changeFeed.listen(CHANNELS[source], (text) => this.heard(source, text)));
    }
    scheduler.add({ name: 'feed.look', firstMs: 0, everyMs: LOOK_MS, run: () => this.look() });
    scheduler.add({ name: 'feed.cleaning', everyMs: CLEAN_MS, run: () => this.clean() });
    metrics.gauge('gridgate_feed_position', 'Number of the last event', ['source'], (gauge) => {
      for (const source of FEED_SOURCES) gauge.set({ source }, this.known[source]);
    });
  }

  onModuleDestroy(): void {
    for (const end of this.ends) end();
  }

  /** The last number that was given: everything up to it can be read. */
  async latest(source: FeedSource): Promise<number> {
    const states = await this.parts.repository.state();
    return states.find((state) => state.source === source)?.position ?? 0;
  }

  /**
   * Events behind `after`, oldest first, of at most `limit` positions; without those whose transaction the snapshot `seen` has
   * seen. Throws Problem 410 when events behind it are not kept any more, or it is a number that was never given.
   */
  async read(
    source: FeedSource,
    after: number,
    limit: number,
    seen?: string,
  ): Promise<Pick<LoggedPage, 'events' | 'upto'>> {
    const page = await this.parts.repository.read(source, after, limit, seen);
    if (page && after > page.position)
      throw feedGone('No event has this position yet, so it is not one of this feed');
    if (!page || after < page.gone)
      throw feedGone('Events behind this position are not kept any more');
    return page;
  }

  /** Runs a read of somebody who is further behind than what is kept in memory: few at once, and fewer of one caller. */
  readBehind<T>(read: () => Promise<T>): Promise<T> {
    return this.parts.database.withinPermit(() => this.behind.run(read));
  }

  /** Calls the listener when there may be something new, until the function that it answers is called. */
  onNews(source: FeedSource, listener: () => void): () => void {
    this.listeners[source].add(listener);
    return () => void this.listeners[source].delete(listener);
  }

  /** There is something new in the transaction of `queryable`: it gets its number as soon as that is committed. */
  wrote(source: FeedSource, queryable: Queryable): void {
    queryable.afterCommit(() => this.numbering.get(source)?.wake());
  }

  /** Resolves when everything that was committed before the call has a number. */
  async settle(source: FeedSource): Promise<void> {
    await this.numbering.get(source)?.runNow();
  }

  private async number(source: FeedSource, signal: AbortSignal): Promise<TaskOutcome> {
    const { database, repository } = this.parts;
    const numbered = await database.transaction(async (transaction) => {
      await lockInTransaction(transaction, LOCKS[source]);
      return repository.number(transaction, source);
    });
    if (!numbered) return undefined;
    if (!numbered.isAll) return 'more';
    await sleep(NUMBERED_EVERY_MS, { signal }).catch(() => undefined);
    return undefined;
  }

  /** News that nobody has told: of an instance that died, or while the change feed was down. */
  private async look(): Promise<void> {
    for (const { source, position, isFresh } of await this.parts.repository.state()) {
      if (isFresh) this.numbering.get(source)?.wake();
      if (position > this.known[source]) this.heard(source, String(position));
    }
  }

  private heard(source: FeedSource, text: string | undefined): void {
    this.known[source] = Math.max(this.known[source], Number(text ?? 0));
    for (const listener of this.listeners[source]) listener();
  }

  private async clean(): Promise<TaskOutcome> {
    const { config, clock, database, repository } = this.parts;
    const before = new Date(clock.now() - config.eventRetention * 1000);
    let isMore = false;
    for (const source of FEED_SOURCES) {
      isMore ||= await database.transaction(async (transaction) => {
        await lockInTransaction(transaction, 'feedCleaning');
        return repository.remove(transaction, source, before);
      });
    }
    return isMore ? 'more' : undefined;
  }
}

/** Where a feed cannot go on; whoever watches has to list again. */
function feedGone(reason: string): Problem {
  return new Problem('feed.gone', `${reason}: list again`);
}
