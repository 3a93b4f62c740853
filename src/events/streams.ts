import { Inject, Injectable } from '@nestjs/common';
import { BoundedQueue, Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Admission, type HttpRequest } from '#src/http/index.js';
import { Metrics } from '#src/runtime/index.js';

const RETRY_AFTER_SECONDS = 5;
/** Pages of events of one user that are in memory at once, made or not read yet: about half a MiB. */
const PAGES_OF_USER = 8;
/** So long a stream waits until others of its user are read; one that is not read is cut earlier. */
const MAX_WAIT_MS = 60_000;
const PAGES = {
  permits: PAGES_OF_USER,
  maxWaiting: Infinity, // the streams of the user
  maxWaitMs: () => MAX_WAIT_MS,
  refusal: () => Problem.unavailable('Other streams of yours are not read'),
};

/** An answer that goes on until somebody ends it. */
export interface Streaming {
  /** Aborted when the client has gone or the instance is about to stop. */
  signal: AbortSignal;
  /** Permits for pages of the user. */
  pages: BoundedQueue;
}

/** What one user has open. */
interface UserStreams {
  open: Set<AbortController>;
  pages: BoundedQueue;
}

/**
 * The answers of this instance that have no end of their own: at most GRID_FEED_STREAMS of one user. They do not count
 * among the requests at work of their caller, and end when the instance stops: then clients go on at another one.
 */
@Injectable()
export class Streams {
  private readonly users = new Map<string, UserStreams>();
  private isEnding = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly admission: Admission,
    metrics: Metrics,
  ) {
    metrics.gauge('gridgate_feed_streams', 'Streams and long polls open', [], (gauge) =>
      gauge.set([...this.users.values()].reduce((sum, { open }) => sum + open.size, 0)),
    );
  }

  /** Begins a stream. Throws Problem 429 when the user has too many, 503 when the instance stops. */
  begin(user: string, request: HttpRequest): Streaming {
    if (this.isEnding) throw Problem.unavailable('The service is stopping');
    const mine = this.users.get(user) ?? { open: new Set(), pages: new BoundedQueue(PAGES) };
    const { open, pages } = mine;
    if (open.size >= this.config.feedStreams) {
      const detail = `More than ${this.config.feedStreams} streams of yours are open`;
      throw new Problem('rate.limited', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const controller = new AbortController();
    this.users.set(user, mine);
    open.add(controller);
    const { res: response } = request;
    const close = (): void => {
      controller.abort();
      open.delete(controller);
      if (open.size === 0 && this.users.get(user) === mine) this.users.delete(user);
    };
    if (!response || response.destroyed || response.closed) close();
    else response.once('close', close);
    this.admission.leave(request);
    return { signal: controller.signal, pages };
  }

  /** Ends all: none is begun any more. */
  end(): void {
    this.isEnding = true;
    for (const { open } of this.users.values()) for (const each of open) each.abort();
  }
}
