import {
  BoundedQueue,
  BoundedQueues,
  currentCaller,
  Problem,
  type QueueBounds,
} from '#src/kernel/index.js';

/** What a connection is taken for: one statement, or a session (transaction, cursor, lock) that may need more. */
export type Use = 'statement' | 'session';

/** Gives a permit back. */
export type Release = () => void;

/** Bounds of the permits; times in ms. */
export interface PermitLimits {
  /** Connections of the pool. */
  connections: number;
  /** Requests that wait at once; further ones are refused at once. The service itself always waits. */
  maxWaiting: number;
  maxWaitMs: number;
  /** The same while the database does not answer. */
  maxWaitWhileSilentMs: number;
}

/** The requests of one caller may use one of so many connections. */
const PART_OF_CALLER = 4;

/**
 * Permits for connections of the pool. Who comes when all are in use waits in order, for a bounded time and in a bounded
 * number: a burst is worked off, an overload is refused quickly. The requests of one caller have at most a quarter of the
 * connections, and sessions leave one to single statements, so that work inside a session that needs another always gets on.
 */
export class ConnectionPermits {
  private readonly connections: BoundedQueue;
  private readonly sessions: BoundedQueue;
  private readonly callers: BoundedQueues;
  private readonly others: BoundedQueue[] = [];
  private isSilent = false;
  private refusing: NodeJS.Timeout | undefined;

  constructor(private readonly limits: PermitLimits) {
    const { connections } = limits;
    this.connections = new BoundedQueue(this.bounds(connections, LATE));
    this.sessions = new BoundedQueue(this.bounds(Math.max(1, connections - 1), LATE));
    this.callers = new BoundedQueues(this.bounds(this.ofOneCaller, OF_CALLER));
  }

  /** How many connections the requests of one caller use at once. */
  get ofOneCaller(): number {
    return Math.max(1, Math.floor(this.limits.connections / PART_OF_CALLER));
  }

  /** Connections in use. */
  get busy(): number {
    return this.connections.running;
  }

  /** Waiting for a connection. */
  get waiting(): number {
    return this.connections.waiting + this.sessions.waiting;
  }

  /** Waiting until other requests of their caller have ended their work with the database. */
  get waitingForCaller(): number {
    return this.callers.waiting;
  }

  /** A queue for work that many callers share, which hears of a silent database; as patient as this one, if not otherwise said. */
  queue(permits: number, change: Partial<Pick<QueueBounds, 'maxWaitMs'>> = {}): BoundedQueue {
    const queue = new BoundedQueue({ ...this.bounds(permits, LATE), ...change });
    this.others.push(queue);
    return queue;
  }

  /**
   * Waits for a connection; answers what gives it back. Throws Problem 503 when too many wait already or none gets free in
   * time, ClientDisconnected when nobody waits for the answer any more.
   */
  async acquire(use: Use): Promise<Release> {
    const releases = [await this.acquireOfCaller()];
    const queues = use === 'session' ? [this.sessions, this.connections] : [this.connections];
    try {
      for (const queue of queues) {
        if (!queue.tryAcquire()) await this.waitFor(queue);
        releases.unshift(() => queue.release());
      }
    } catch (error) {
      for (const release of releases) release();
      throw error;
    }
    return () => {
      for (const release of releases) release();
    };
  }

  private async waitFor(queue: BoundedQueue): Promise<void> {
    const caller = currentCaller();
    if (caller && this.waiting >= this.limits.maxWaiting) {
      throw overloaded('Too many requests at once');
    }
    await queue.acquire(caller?.hasBegun === false ? caller.signal : undefined);
  }

  /**
   * Waits until the caller may use one more connection; until the answered function is called, its request takes further ones
   * without waiting for its others. Throws as `acquire`, but only where the request changes nothing or has not used the database yet:
   * later it waits before those of its others that have not, since what it has begun is to be finished.
   */
  async acquireOfCaller(): Promise<Release> {
    const caller = currentCaller();
    if (caller?.key === undefined) return () => undefined;
    if (caller.uses === 0) {
      const queue = this.callers.of(caller.key);
      if (!queue.tryAcquire()) {
        await (caller.hasBegun ? queue.acquireFirst() : queue.acquire(caller.signal));
      }
      caller.permits.push(() => queue.release());
      caller.hasBegun = caller.mayChange;
    }
    caller.uses += 1;
    return () => {
      caller.uses -= 1;
      if (caller.uses > 0) return;
      for (const release of caller.permits.splice(0)) release();
    };
  }

  /** The database does not answer (or does again): unless it is back at once, those who wait hear of it soon. */
  setSilent(isSilent: boolean): void {
    if (isSilent === this.isSilent) return;
    this.isSilent = isSilent;
    clearTimeout(this.refusing);
    if (!isSilent) return;
    this.refusing = setTimeout(() => {
      for (const queue of [this.connections, this.sessions, this.callers, ...this.others]) {
        queue.refuseWaiting(silent());
      }
    }, this.limits.maxWaitWhileSilentMs).unref();
  }

  private bounds(permits: number, late: string): QueueBounds {
    const { maxWaitMs, maxWaitWhileSilentMs } = this.limits;
    return {
      permits,
      maxWaiting: Infinity, // of requests it is bounded in `acquire`, by Admission and by GRID_FEED_STREAMS
      maxWaitMs: () => (this.isSilent ? maxWaitWhileSilentMs : maxWaitMs),
      refusal: () => (this.isSilent ? silent() : overloaded(late)),
    };
  }
}

const LATE = 'No connection became free in time';
const OF_CALLER = 'Other requests of yours use what one caller may have of the database';

function overloaded(detail: string): Problem {
  return new Problem('service.overloaded', detail, { retryAfterSeconds: 1 });
}

function silent(): Problem {
  return Problem.unavailable('The database does not answer');
}
