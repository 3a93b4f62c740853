/** Bounds of a queue. */
export interface QueueBounds {
  /** Permits that may be held at once. */
  permits: number;
  /** How many may wait for one; further ones are refused at once. */
  maxWaiting: number;
  /** How long each waits, in ms. */
  maxWaitMs: () => number;
  /** The error of who is refused. */
  refusal: (reason: QueueRefusal) => Error;
}

export type QueueRefusal = 'queue-full' | 'time-out';

interface Waiter {
  admit: () => void;
  refuse: (error: Error) => void;
}

/** A semaphore whose queue is bounded in number and time. Permits are given in the order of asking. */
export class BoundedQueue {
  private held = 0;
  private readonly first = new Set<Waiter>();
  private readonly waiters = new Set<Waiter>();

  constructor(private readonly bounds: QueueBounds) {}

  /** Permits held now. */
  get running(): number {
    return this.held;
  }

  /** Waiting now. */
  get waiting(): number {
    return this.first.size + this.waiters.size;
  }

  /** Takes a permit if one is free. */
  tryAcquire(): boolean {
    if (this.held >= this.bounds.permits) return false;
    this.held += 1;
    return true;
  }

  /** Waits for a permit. Throws the refusal of the queue, or the reason of the signal once that is aborted. */
  async acquire(signal?: AbortSignal): Promise<void> {
    if (this.tryAcquire()) return;
    signal?.throwIfAborted();
    const { maxWaiting, maxWaitMs, refusal } = this.bounds;
    if (this.waiters.size >= maxWaiting) throw refusal('queue-full');
    await new Promise<void>((resolve, reject) => {
      const leave = this.queue(this.waiters, { admit: resolve, refuse: reject }, () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      });
      const onAbort = (): void => leave(signal?.reason as Error);
      const timer = setTimeout(() => leave(refusal('time-out')), maxWaitMs()).unref();
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Waits before all others, and without an end: for work that has begun and is to be finished. */
  async acquireFirst(): Promise<void> {
    if (this.tryAcquire()) return;
    await new Promise<void>((resolve, reject) => {
      this.queue(this.first, { admit: resolve, refuse: reject }, () => undefined);
    });
  }

  /** Gives the permit to who has waited longest. */
  release(): void {
    const [next] = this.first.size > 0 ? this.first : this.waiters;
    if (next) next.admit();
    else this.held -= 1;
  }

  /** Runs the work with a permit. Throws as `acquire`. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.tryAcquire()) await this.acquire(signal);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Refuses all that wait now. */
  refuseWaiting(error: Error): void {
    for (const waiter of [...this.first, ...this.waiters]) waiter.refuse(error);
  }

  /** Adds a waiter, and `left` to what happens when it goes; the answered function makes it go with an error. */
  private queue(
    waiters: Set<Waiter>,
    { admit, refuse }: Waiter,
    left: () => void,
  ): (error: Error) => void {
    const leave = (): void => {
      waiters.delete(waiter);
      left();
    };
    const waiter: Waiter = {
      admit: () => {
        leave();
        admit();
      },
      refuse: (error) => {
        leave();
        refuse(error);
      },
    };
    waiters.add(waiter);
    return waiter.refuse;
  }
}

/** Idle queues are looked for when there are more than this. */
const MANY_QUEUES = 1_000;

/** A queue with the same bounds for each key. */
export class BoundedQueues {
  private readonly queues = new Map<string, BoundedQueue>();
  private many = MANY_QUEUES;

  constructor(private readonly bounds: QueueBounds) {}

  /** Permits held now. */
  get running(): number {
    return this.sum(({ running }) => running);
  }

  /** Waiting now. */
  get waiting(): number {
    return this.sum(({ waiting }) => waiting);
  }

  of(key: string): BoundedQueue {
    const known = this.queues.get(key);
    if (known) return known;
    if (this.queues.size >= this.many) this.removeIdle();
    const queue = new BoundedQueue(this.bounds);
    this.queues.set(key, queue);
    return queue;
  }

  /** Refuses all that wait now. */
  refuseWaiting(error: Error): void {
    for (const queue of this.queues.values()) queue.refuseWaiting(error);
  }

  /** Only now and then: at the end of each permit it would cost more than everything else here. */
  private removeIdle(): void {
    for (const [key, { running }] of this.queues) if (running === 0) this.queues.delete(key);
    this.many = Math.max(MANY_QUEUES, this.queues.size * 2);
  }

  private sum(count: (queue: BoundedQueue) => number): number {
    return [...this.queues.values()].reduce((total, queue) => total + count(queue), 0);
  }
}
