import { Inject, Injectable } from '@nestjs/common';
import { BoundedQueues, currentCaller, Problem, type BoundedQueue } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database } from '#src/database/index.js';
import { Metrics } from '#src/runtime/index.js';
import { ClientDisconnected, clientSignal } from './client-signal.js';
import type { HttpRequest } from './messages.js';

/** Requests of one caller that wait, for each that may be at work. */
const WAITING_PER_PERMIT = 16;
const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds how many requests of one caller are at work at once (GRID_CALLER_CONCURRENCY), on this instance. Further ones wait in the
 * caller's own queue, bounded in number and time; then they are refused. A request is at work until its answer is sent or its
 * connection is gone, so slow bodies and slow readers count. What they may use of the database together, ConnectionPermits bounds.
 */
@Injectable()
export class Admission {
  private readonly requests: BoundedQueues;
  /** How requests stop being at work. */
  private readonly releases = new WeakMap<HttpRequest, () => void>();

  constructor(@Inject(CONFIG) config: Config, metrics: Metrics, database: Database) {
    const { callerConcurrency, databaseQueueTimeout, requestTimeout } = config;
    const refusals = metrics.counter(
      'gridgate_caller_refusals_total',
      'Requests refused because their caller had too many at work, by reason',
      ['reason'],
    );
    // As patient as with the database, and answered before the deadline of the request.
    const maxWaitMs = Math.min(databaseQueueTimeout, requestTimeout * 0.9) * 1000;
    this.requests = new BoundedQueues({
      permits: callerConcurrency,
      maxWaiting: callerConcurrency * WAITING_PER_PERMIT,
      maxWaitMs: () => maxWaitMs,
      refusal: (reason) => {
        refusals.inc({ reason });
        const detail = `More than ${callerConcurrency} requests of yours are at work at once`;
        return new Problem('rate.limited', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      },
    });
    const text = 'Requests that count for their caller';
    metrics.gauge('gridgate_caller_requests', text, ['state'], (gauge) => {
      gauge.set({ state: 'working' }, this.requests.running);
      gauge.set({ state: 'waiting' }, this.requests.waiting);
      gauge.set({ state: 'held' }, database.permits.waitingForCaller);
    });
  }

  /**
   * Counts the request for the caller of this key, and for no other any more, until its answer is sent or its client is gone.
   * Undefined when there is nothing to wait for. Throws Problem 429 when too many requests of the caller wait already, or none of
   * those at work ends in time.
   */
  admit(key: string, request: HttpRequest): Promise<void> | undefined {
    this.leave(request);
    const queue = this.requests.of(key);
    if (queue.tryAcquire()) {
      this.enter(key, queue, request);
      return undefined;
    }
    return queue.acquire(clientSignal(request)).then(() => this.enter(key, queue, request));
  }

  /** The request is at work no more, although its answer goes on: a stream, which is bounded otherwise. */
  leave(request: HttpRequest): void {
    this.releases.get(request)?.();
  }

  private enter(key: string, queue: BoundedQueue, request: HttpRequest): void {
    const { res: response } = request;
    if (!response || response.destroyed || response.closed) {
      queue.release();
      throw new ClientDisconnected();
    }
    const release = (): void => {
      response.off('close', release);
      this.releases.delete(request);
      queue.release();
    };
    response.once('close', release);
    this.releases.set(request, release);
    const caller = currentCaller();
    if (caller) Object.assign(caller, { key, hasBegun: false });
  }
}
