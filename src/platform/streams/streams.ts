import { Inject, Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '../config/env.js';
import { Admission } from '../http/admission.js';
import type { HttpRequest } from '../http/messages.js';
import { Metrics } from '../observe/metrics/metrics.js';

const RETRY_AFTER_SECONDS = 5;

/** An answer that goes on until somebody ends it. */
export interface Streaming {
  /** Aborted when the client has gone or the instance is about to stop. */
  signal: AbortSignal;
}

/**
 * The answers of this instance that have no end of their own: at most GRID_FEED_STREAMS of one user. They do not count
 * among the requests at work of their caller, and end when the instance stops: then clients go on at another one.
 */
@Injectable()
export class Streams {
  private readonly open = new Map<string, Set<AbortController>>();
  private isEnding = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly admission: Admission,
    metrics: Metrics,
  ) {
    metrics.gauge('gridgate_feed_streams', 'Streams and long polls open', [], (gauge) =>
      gauge.set([...this.open.values()].reduce((sum, { size }) => sum + size, 0)),
    );
  }

  /** Begins a stream. Throws Problem 429 when the user has too many, 503 when the instance stops. */
  begin(user: string, request: HttpRequest): Streaming {
    if (this.isEnding) throw Problem.unavailable('The service is stopping');
    const mine = this.open.get(user) ?? new Set();
    if (mine.size >= this.config.feedStreams) {
      const detail = `More than ${this.config.feedStreams} streams of yours are open`;
      throw new Problem('rate.limited', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const controller = new AbortController();
    this.open.set(user, mine.add(controller));
    const { res: response } = request;
    const close = (): void => {
      controller.abort();
      mine.delete(controller);
      if (mine.size === 0 && this.open.get(user) === mine) this.open.delete(user);
    };
    if (!response || response.destroyed || response.closed) close();
    else response.once('close', close);
    this.admission.leave(request);
    return { signal: controller.signal };
  }

  /** Ends all: none is begun any more. */
  end(): void {
    this.isEnding = true;
    for (const mine of this.open.values()) for (const each of mine) each.abort();
  }
}
