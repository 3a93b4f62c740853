import { Inject, Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { Feed } from './feed.js';
import { readCursor, type FeedCursor } from './feed-cursor.js';
import { accepts, type HttpRequest, type HttpResponse } from '#src/http/index.js';
import { Metrics } from '#src/runtime/index.js';
import { FeedFollower, type Tell } from './feed-follower.js';
import { LINES_TYPE, SSE_TYPE, wireOf } from './feed-wire.js';
import { Streams } from './streams.js';

/** Share of the time of a request that a long poll may take. */
const PART_OF_TIMEOUT = 0.9;
const JSON_TYPE = 'application/json';

/** Who asks for a feed, and how. */
export interface FeedAsked<E> {
  request: HttpRequest;
  response: HttpResponse;
  /** Whose streams are counted together. */
  user: string;
  feed: Feed<E & { position: number }>;
  after: FeedCursor | undefined;
  /** Seconds of a long poll; undefined for a stream. */
  wait: number | undefined;
  /** What of these events may be told as things stand now; undefined when the right is lost. */
  rights: (events: readonly E[]) => Promise<Tell<E> | undefined>;
}

/** Answers with a feed: server-sent events, lines, or what there is. */
@Injectable()
export class FeedAnswers {
  private readonly ended;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly streams: Streams,
    metrics: Metrics,
  ) {
    const text = 'Streams that have ended, by reason';
    this.ended = metrics.counter('gridgate_feed_streams_ended_total', text, ['reason']);
  }

  /** Throws Problem 400, 410 or 429 before the answer has begun; later the stream just ends, and its client goes on elsewhere. */
  async answer<E>(asked: FeedAsked<E>): Promise<void> {
    const { request, feed, rights } = asked;
    // Who likes one JSON document best is not given a stream.
    const wait = asked.wait ?? (accepts(request, JSON_TYPE, SSE_TYPE) ? 0 : undefined);
    const header = request.headers['last-event-id'];
    const from =
      typeof header === 'string' && header !== ''
        ? readCursor(header, 'Last-Event-ID')
        : asked.after;
    const { signal, pages } = this.streams.begin(asked.user, request);
    const follower = new FeedFollower({ feed, from, rights, pages, signal });
    const id = await follower.open();
    try {
      if (wait !== undefined) await this.poll(follower, asked, wait);
      else await this.stream(follower, asked, { id, isNews: from === undefined, signal });
    } finally {
      follower.close();
    }
  }

  private async poll<E>(
    follower: FeedFollower<E>,
    { request, response }: FeedAsked<E>,
    wait: number,
  ): Promise<void> {
    const longest = Math.min(wait, this.config.requestTimeout * PART_OF_TIMEOUT);
    const body = await follower.poll(request.method === 'HEAD' ? 0 : longest * 1000);
    if (body === undefined) {
      throw new Problem('auth.token-invalid', 'The access token is not valid any more');
    }
    if (response.headersSent || response.destroyed) return;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end(body);
  }

  private async stream<E>(
    follower: FeedFollower<E>,
    { request, response }: FeedAsked<E>,
    { id, isNews, signal }: { id: string; isNews: boolean; signal: AbortSignal },
  ): Promise<void> {
    const wire = wireOf(accepts(request, LINES_TYPE, SSE_TYPE) ? LINES_TYPE : SSE_TYPE);
    response.setHeader('Content-Type', wire.type);
    response.vary('Accept');
    response.setHeader('X-Accel-Buffering', 'no'); // proxies of the nginx kind hand on each piece at once
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    response.write(wire.begin(id, isNews));
    let reason = 'rights';
    try {
      await follower.stream(response, wire);
      if (signal.aborted) reason = response.destroyed ? 'client' : 'stop';
    } catch (error) {
      if (signal.aborted) reason = response.destroyed ? 'client' : 'stop';
      else if (error instanceof Problem) reason = 'behind';
      else throw error;
    } finally {
      this.ended.inc({ reason });
      response.end();
    }
  }
}
