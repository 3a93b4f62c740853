import { Problem, Slices } from '#src/kernel/index.js';
import type { Feed } from '../feed/feed.js';
import { cursorText, type FeedCursor } from '../feed/feed-cursor.js';
import type { HttpResponse } from '../http/messages.js';
import { lineOf, positionEvent, sendPiece, type FeedWire, type SentEvent } from './feed-wire.js';

/** Events that are looked at before they are sent. */
const PAGE = 200;
/** So often a stream without events looks whether it may go on. */
const LOOK_MS = 1_000;
const COMMENT_MS = 15_000;
/** After so long a position is sent for events that were not for this watcher. */
const POSITION_MS = 5_000;
/** Events of one answer to a long poll. */
const POLLED_AT_MOST = 1_000;

/** What a watcher is told of an event; undefined for what is not for it. */
export type Tell<E> = (event: E) => Pick<SentEvent, 'event' | 'data'> | undefined;

/** What is watched. */
export interface Watch<E> {
  feed: Feed<E & { position: number }>;
  /** Where to begin; without one, now. */
  from: FeedCursor | undefined;
  /** What of these events the watcher may be told as things stand now; undefined when it has lost its right. */
  rights: (events: readonly E[]) => Promise<Tell<E> | undefined>;
  signal: AbortSignal;
}

/** Goes along a feed: from where somebody was, through what has been since, to what comes. */
export class FeedFollower<E> {
  private cursor: FeedCursor = { position: 0 };
  /** Everything that the snapshot of the cursor has seen stands at or before it. */
  private seenUpto = 0;
  private news = false;
  private wake: () => void = () => undefined;
  private stopListening: () => void = () => undefined;

  constructor(private readonly watch: Watch<E>) {}

  /** Finds the beginning. Throws Problem 410 for a position that the log does not have. */
  async open(): Promise<string> {
    const { feed, from } = this.watch;
    this.stopListening = feed.onNews(() => {
      this.news = true;
      this.wake();
    });
    try {
      if (from?.seen !== undefined) await feed.settle();
      const latest = from && from.seen === undefined ? 0 : await feed.latest();
      this.cursor = from ?? { position: latest };
      if (from) await feed.read(from, 1);
      this.seenUpto = latest;
      return cursorText(this.cursor);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Tells nobody any more. */
  close(): void {
    this.stopListening();
  }

  /** Sends until the watcher goes, loses its right, or the instance stops. Throws Problem 410 when it is too slow for the log. */
  async stream(response: HttpResponse, wire: FeedWire): Promise<void> {
    const { signal } = this.watch;
    let sentAt = performance.now();
    let toldAt = sentAt;
    let told = this.cursor.position;
    const send = async (text: string): Promise<void> => {
      await sendPiece(response, text, signal);
      sentAt = performance.now();
    };
    while (!signal.aborted) {
      const page = await this.next();
      if (page === 'no right')
        return send(wire.event(endOf('the access token is not valid any more')));
      const now = performance.now();
      if (page.length > 0) {
        await send(page.map((event) => wire.event(event)).join(''));
        [toldAt, told] = [now, this.cursor.position];
      } else if (this.cursor.position > told && now - toldAt >= POSITION_MS) {
        const id = cursorText(this.cursor);
        await send(wire.event(positionEvent(id)));
        [toldAt, told] = [now, this.cursor.position];
      } else if (now - sentAt >= COMMENT_MS) await send(wire.comment);
    }
  }

  /**
   * Waits so long for events; answers with the first there are, as JSON. What there is already is looked through for a while
   * even by who does not wait: the first of it may not be for this watcher. Undefined when the right is lost.
   */
  async poll(waitMs: number): Promise<string | undefined> {
    const { signal } = this.watch;
    const began = performance.now();
    const until = began + waitMs;
    const events: SentEvent[] = [];
    for (let isOver = false; !isOver;) {
      const leftMs = events.length > 0 ? 0 : until - performance.now();
      const page = await this.next(Math.min(LOOK_MS, leftMs));
      if (page === 'no right') return undefined;
      events.push(...page);
      const isMore = this.news && events.length < POLLED_AT_MOST;
      const now = performance.now();
      const isWaiting = now < until || (this.news && now < began + LOOK_MS);
      isOver = signal.aborted || !(events.length > 0 ? isMore : isWaiting);
    }
    return `{"events":[${events.map(lineOf).join(',')}],"position":"${cursorText(this.cursor)}"}`;
  }

  /** What comes next for the watcher: perhaps nothing, after a pause at the latest. */
  private async next(pauseMs = LOOK_MS): Promise<SentEvent[] | 'no right'> {
    const { feed, rights } = this.watch;
    this.news = false;
    try {
      const { events, upto } = await feed.read(this.cursor, PAGE);
      const tell = await rights(events);
      if (!tell) return 'no right';
      const sent = await this.tellAll(events, tell);
      if (upto > this.cursor.position) {
        this.advance(upto);
        this.news = true;
      } else await this.pause(pauseMs);
      return sent;
    } catch (error) {
      // The database is away: neither events nor rights can be known, and nothing is sent until they are.
      if (!(error instanceof Problem) || error.status !== 503) throw error;
      await this.pause(pauseMs);
      return [];
    }
  }

  private async tellAll(
    events: readonly (E & { position: number })[],
    tell: Tell<E>,
  ): Promise<SentEvent[]> {
    const sent: SentEvent[] = [];
    const slices = new Slices();
    for (const event of events) {
      const told = tell(event);
      if (told) {
        const id = cursorText(this.cursorAt(event.position));
        sent.push({ id, ...told });
      }
      if (slices.isOver) await slices.rest();
    }
    return sent;
  }

  private advance(position: number): void {
    this.cursor = this.cursorAt(position);
  }

  /** The snapshot has nothing more to say once everything it has seen is passed. */
  private cursorAt(position: number): FeedCursor {
    const { seen } = this.cursor;
    return seen === undefined || position >= this.seenUpto ? { position } : { position, seen };
  }

  private async pause(milliseconds: number): Promise<void> {
    const { signal } = this.watch;
    if (this.news || signal.aborted || milliseconds <= 0) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.wake = () => undefined;
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      signal.addEventListener('abort', end, { once: true });
      this.wake = end;
    });
  }
}

/** The last word to a watcher who has lost its right. */
function endOf(reason: string): SentEvent {
  return { event: 'end', data: JSON.stringify({ reason }) };
}
