import { Problem } from '#src/kernel/index.js';

/** What a connection is taken for: one statement, or a session (transaction, cursor, lock) that may need more. */
export type Use = 'statement' | 'session';

/** Bounds of the gate; times in milliseconds. */
export interface GateLimits {
  /** Connections of the pool. */
  places: number;
  /** Waiting at once; further ones are refused at once. */
  maxWaiting: number;
  longestWaitMs: number;
  /** The same while the database does not answer. */
  longestWaitInDoubtMs: number;
}

interface Waiter {
  order: number;
  enter: () => void;
  refuse: (problem: Problem) => void;
}

/**
 * The queue in front of the connection pool. Whoever comes when all connections are busy waits here in turn, for a
 * bounded time and in a bounded number: a burst is worked off, an overload is refused quickly. Sessions leave one
 * connection to single statements, so that work inside a session that asks for another one always gets on.
 */
export class ConnectionGate {
  private readonly queues: Record<Use, Map<number, Waiter>> = {
    statement: new Map(),
    session: new Map(),
  };
  private readonly running: Record<Use, number> = { statement: 0, session: 0 };
  private readonly maxSessions: number;
  private orders = 0;
  private isInDoubt = false;
  private doubting: NodeJS.Timeout | undefined;

  constructor(private readonly limits: GateLimits) {
    this.maxSessions = Math.max(1, limits.places - 1);
  }

  /** Holders of a place now. */
  get busy(): number {
    return this.running.statement + this.running.session;
  }

  /** True while the database does not answer. */
  get inDoubt(): boolean {
    return this.isInDoubt;
  }

  /** Waiting now. */
  get waiting(): number {
    return this.queues.statement.size + this.queues.session.size;
  }

  /** Takes a place if there is one and nobody waits for it. */
  tryEnter(use: Use): boolean {
    if (!this.hasPlace(use) || this.queues[use].size > 0) return false;
    this.running[use] += 1;
    return true;
  }

  /** Waits for a place. Throws Problem 503 when too many wait already, or none gets free in time. */
  async enter(use: Use): Promise<void> {
    if (this.tryEnter(use)) return;
    if (this.waiting >= this.limits.maxWaiting) throw overloaded('Too many requests at once');
    await new Promise<void>((resolve, reject) => this.queue(use, { resolve, reject }));
  }

  /** Gives the place back to the next one. */
  leave(use: Use): void {
    this.running[use] -= 1;
    for (let next = this.next(); next; next = this.next()) next.enter();
  }

  /** The database does not answer (or does again): unless it is back at once, those who wait hear of it soon. */
  doubt(isInDoubt: boolean): void {
    if (isInDoubt === this.isInDoubt) return;
    this.isInDoubt = isInDoubt;
    clearTimeout(this.doubting);
    if (!isInDoubt) return;
    this.doubting = setTimeout(() => this.refuseAll(), this.limits.longestWaitInDoubtMs).unref();
  }

  private hasPlace(use: Use): boolean {
    if (this.busy >= this.limits.places) return false;
    return use === 'statement' || this.running.session < this.maxSessions;
  }

  private queue(
    use: Use,
    { resolve, reject }: { resolve: () => void; reject: (problem: Problem) => void },
  ): void {
    const { longestWaitMs, longestWaitInDoubtMs } = this.limits;
    const order = (this.orders += 1);
    const leaveQueue = (): void => {
      clearTimeout(timer);
      this.queues[use].delete(order);
    };
    const refuse = (problem: Problem): void => {
      leaveQueue();
      reject(problem);
    };
    const timer = setTimeout(
      () => refuse(this.isInDoubt ? silent() : overloaded('No place became free in time')),
      this.isInDoubt ? longestWaitInDoubtMs : longestWaitMs,
    ).unref();
    const enter = (): void => {
      leaveQueue();
      this.running[use] += 1;
      resolve();
    };
    this.queues[use].set(order, { order, enter, refuse });
  }

  /** The one that has waited longest among those for whom there is a place. */
  private next(): Waiter | undefined {
    const { statement, session } = this.queues;
    const [firstStatement] = this.hasPlace('statement') ? statement.values() : [];
    const [firstSession] = this.hasPlace('session') ? session.values() : [];
    if (!firstStatement || !firstSession) return firstStatement ?? firstSession;
    return firstStatement.order < firstSession.order ? firstStatement : firstSession;
  }

  private refuseAll(): void {
    for (const queue of Object.values(this.queues)) {
      for (const waiter of [...queue.values()]) waiter.refuse(silent());
    }
  }
}

function overloaded(detail: string): Problem {
  return new Problem('service.overloaded', detail, { retryAfterSeconds: 1 });
}

function silent(): Problem {
  return Problem.unavailable('The database does not answer');
}
