import { runForAll } from '#src/kernel/index.js';
import type { EventLog } from './event-log.js';
import type { FeedCursor } from './feed-cursor.js';
import type { LoggedEvent } from './event-log.repository.js';
import type { FeedSource } from './event-log.entity.js';

/** Events that are kept in memory for all who watch. */
const KEPT = 4_000;
/** Events that are read at once. */
const PAGE = 500;

/** Events, and how far they go: what the log has up to `upto` is either among them or not for this reader. */
export interface FeedPage<E> {
  events: E[];
  upto: number;
}

/** An event of a feed. */
interface Positioned {
  position: number;
}

/**
 * The events of a source for everybody on this instance: each is read once, while somebody watches, and kept for a while
 * in memory. Who is further behind reads the log, few at a time.
 */
export class Feed<E extends Positioned> {
  /** Without gaps, the newest last. */
  private recent: E[] = [];
  /** Position of the newest; undefined while nobody watches. */
  private head: number | undefined;
  private readonly listeners = new Set<() => void>();
  private stopListening: (() => void) | undefined;
  private pulling: Promise<void> | undefined;
  /** The read that is under way, or was last. */
  private page: Promise<boolean> | undefined;
  private isStale = false;

  /** `complete` makes an event of the feed of each event of the log. */
  constructor(
    private readonly log: EventLog,
    private readonly source: FeedSource,
    private readonly complete: (events: readonly LoggedEvent[]) => Promise<E[]>,
  ) {}

  /** Those who are told of news. */
  get watchers(): number {
    return this.listeners.size;
  }

  /** The last position that was given out. */
  async latest(): Promise<number> {
    return this.log.latest(this.source);
  }

  /** Resolves when everything that was committed before the call has its position. */
  async settle(): Promise<void> {
    await this.log.settle(this.source);
  }

  /** Calls the listener when there may be something new, until the function that it answers is called. */
  onNews(listener: () => void): () => void {
    this.listeners.add(listener);
    this.stopListening ??= this.log.onNews(this.source, () => void this.pull());
    void this.pull();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.stopListening?.();
      this.stopListening = undefined;
      this.forget();
    };
  }

  /** Events behind the cursor, oldest first. Throws Problem 410 when the log does not go back so far. */
  async read({ position, seen }: FeedCursor, limit: number): Promise<FeedPage<E>> {
    if (this.head === undefined && this.listeners.size > 0) void this.pull();
    if (seen === undefined && position === this.head) await this.page?.catch(() => undefined); // it may have more
    const kept = seen === undefined ? this.keptBehind(position, limit) : undefined;
    if (kept) return { events: kept, upto: kept.at(-1)?.position ?? position };
    return this.log.readBehind(async () => {
      const page = await this.log.read(this.source, position, limit, seen);
      return { events: await this.complete(page.events), upto: page.upto };
    });
  }

  private keptBehind(position: number, limit: number): E[] | undefined {
    const { head, recent } = this;
    if (head === undefined || position > head) return undefined;
    const from = position - (head - recent.length);
    return from < 0 ? undefined : recent.slice(from, from + limit);
  }

  /** Reads what is new, once for all. When that fails nothing is kept: each reader reads for itself, and meets the fault. */
  private async pull(): Promise<void> {
    this.isStale = true;
    this.pulling ??= runForAll(() => this.pullAll())
      .catch(() => this.forget())
      .finally(() => (this.pulling = undefined));
    await this.pulling;
  }

  private forget(): void {
    this.head = undefined;
    this.recent = [];
  }

  private async pullAll(): Promise<void> {
    while (this.isStale && this.listeners.size > 0) {
      this.isStale = false;
      const start = this.head ?? (await this.log.latest(this.source));
      if (this.listeners.size === 0) break; // else nobody would ever advance it
      this.head = start;
      do this.page = this.pullPage();
      while (await this.page);
    }
  }

  /** Reads what is behind the head; answers whether there may be more. */
  private async pullPage(): Promise<boolean> {
    if (this.head === undefined) return false; // nobody watched any more, for a moment at least
    const { events } = await this.log.read(this.source, this.head, PAGE);
    const next = await this.complete(events);
    if (this.head === undefined) return false;
    this.recent.push(...next);
    if (this.recent.length > KEPT) this.recent.splice(0, this.recent.length - KEPT);
    this.head += next.length;
    for (const listener of this.listeners) listener();
    return next.length === PAGE;
  }
}
