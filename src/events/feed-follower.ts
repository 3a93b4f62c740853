import { Problem, Slices, type BoundedQueue } from '#src/kernel/index.js';
import type { Feed } from './feed.js';
import { cursorText, type FeedCursor } from './feed-cursor.js';
import type { HttpResponse } from '#src/http/index.js';
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
/** Characters that are sent at once. */
const PIECE_CHARACTERS = 65_536;

/** What a watcher is told of an event; undefined for what is not for it. */
export type Tell<E> = (event: E) => Pick<SentEvent, 'event' | 'data'> | undefined;

/** What is watched. */
export interface Watch<E> {
  feed: Feed<E & { position: number }>;
  /** Where to begin; without one, now. */
  from: FeedCursor | undefined;
  /** What of these events the watcher may be told as things stand now; undefined when it has lost its right. */
  rights: (events: readonly E[]) => Promise<Tell<E> | undefined>;
  /** Permits of the user for pages of events that are being made, or are not read yet. */
  pages: BoundedQueue;
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
      const sent = await this.next(async (events) => {
        for (const piece of piecesOf(events, wire)) await send(piece);
      });
      if (sent === 'no right')
        return send(wire.event(endOf('the access token is not valid any more')));
      const now = performance.now();
      if (sent > 0) [toldAt, told] = [now, this.cursor.position];
      else if (this.cursor.position > told && now - toldAt >= POSITION_MS) {
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
      const deliver = (page: SentEvent[]): Promise<void> =>
        Promise.resolve(void events.push(...page));
      const sent = await this.next(deliver, Math.min(LOOK_MS, leftMs));
      if (sent === 'no right') return undefined;
      const isMore = this.news && events.length < POLLED_AT_MOST;
      const now = performance.now();
      const isWaiting = now < until || (this.news && now < began + LOOK_MS);
      isOver = signal.aborted || !(events.length > 0 ? isMore : isWaiting);
    }
    return `{"events":[${events.map(lineOf).join(',')}],"position":"${cursorText(this.cursor)}"}`;
  }

  /** Delivers what comes next for the watcher: perhaps nothing, after a pause at the latest. Answers the number of its events. */
  private async next(
    deliver: (events: SentEvent[]) => Promise<void>,
    pauseMs = LOOK_MS,
  ): Promise<number | 'no right'> {
    const { feed, rights } = this.watch;
    this.news = false;
    try {
      const { events, upto } = await feed.read(this.cursor, PAGE);
      const tell = await rights(events);
      if (!tell) return 'no right';
      const sent = events.length > 0 ? await this.deliverAll(events, tell, deliver) : 0;
      if (upto > this.cursor.position) {
        this.advance(upto);
        this.news = true;
      } else await this.pause(pauseMs);
      return sent;
    } catch (error) {
      // The database is away: neither events nor rights can be known, and nothing is sent until they are. Or others of the user read slowly.
      if (!(error instanceof Problem) || error.status !== 503) throw error;
      await this.pause(pauseMs);
      return 0;
    }
  }

  /** Few pages of one user are in memory at once, and few of them take the time of others. */
  private async deliverAll(
    events: readonly (E & { position: number })[],
    tell: Tell<E>,
    deliver: (events: SentEvent[]) => Promise<void>,
  ): Promise<number> {
    const { pages, signal } = this.watch;
    await pages.acquire(signal);
    try {
      const sent = await this.tellAll(events, tell);
      if (sent.length > 0) await deliver(sent);
      return sent.length;
    } finally {
      pages.release();
    }
  }

  private async tellAll(
    events: readonly (E & { position: number })[],
    tell: Tell<E>,
  ): Promise<SentEvent[]> {
    const sent: SentEvent[] = [];
    const slices = Slices.ofLong();
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

function* piecesOf(events: readonly SentEvent[], wire: FeedWire): Generator<string> {
  let text = '';
  for (const event of events) {
    text += wire.event(event);
    if (text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** The last word to a watcher who has lost its right. */
function endOf(reason: string): SentEvent {
  return { event: 'end', data: JSON.stringify({ reason }) };
}
