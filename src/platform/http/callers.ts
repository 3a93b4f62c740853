import { Inject, Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '../config/env.js';
import { Database } from '../database/database.js';
import { Metrics } from '../observe/metrics/metrics.js';
import { CallerTurns, keepTurn, setTurn, Turn, type TurnLimits } from './caller-turns.js';
import { JoinedReads, JoinedWrites } from './joined-reads.js';
import type { HttpRequest } from './messages.js';

/** Requests of one caller that wait, for each that may be at work. */
const WAITING_PER_PLACE = 16;
const RETRY_AFTER_SECONDS = 1;
/** What of the pool the requests of one caller may use at once: one of so many connections. */
const PART_OF_POOL = 4;
/** Joined writes at once: more of them would gather less each. */
const MOST_JOINED_WRITES = 2;
/** How long a turn is waited for while the database does not answer. */
const SILENCE_MS = 1_500;
/** Callers without requests are looked for when there are more than this. */
const MANY_CALLERS = 1_000;

/** How requests that count for their caller stop doing so. */
const STEPS_ASIDE = new WeakMap<HttpRequest, () => void>();

interface Waiter {
  enter: () => void;
  timer: NodeJS.Timeout;
}

/** One caller: how many requests it has at work, and those that wait, the first of them first. */
interface Caller {
  atWork: number;
  readonly waiting: Set<Waiter>;
  /** Which of those at work may use the database. */
  readonly turns: CallerTurns;
}

/**
 * Bounds how many requests of one caller are at work at once (GRID_CALLER_CONCURRENCY), on this instance. Further ones
 * wait in the caller's own queue, in turn, bounded in number and time; then they are refused. A request is at work
 * until its answer is sent or its connection is gone, so slow bodies and slow readers count.
 *
 * Of those at work at most a quarter as many as the pool has connections have their turn with the database (decision
 * 0325): a turn lasts as long as the handler works, but for what it does `outOfTurn`.
 */
@Injectable()
export class Callers {
  private readonly callers = new Map<string, Caller>();
  private many = MANY_CALLERS;
  private readonly places: number;
  private readonly longestWaitMs: number;
  private readonly limits: TurnLimits;
  private readonly refusals;

  constructor(@Inject(CONFIG) config: Config, metrics: Metrics, database: Database) {
    this.places = config.callerConcurrency;
    // As patient as with the database, and answered before the deadline of the request.
    this.longestWaitMs = Math.min(config.databaseQueueTimeout, config.requestTimeout * 0.9) * 1000;
    this.limits = {
      most: Math.max(1, Math.floor(config.databasePool / PART_OF_POOL)),
      longestWaitMs: this.longestWaitMs,
      longestWaitInDoubtMs: SILENCE_MS,
      isInDoubt: () => database.gate.inDoubt,
    };
    this.refusals = metrics.counter(
      'gridgate_caller_refusals_total',
      'Requests refused because their caller had too many at work, by reason',
      ['reason'],
    );
    const text = 'Requests that count for their caller';
    metrics.gauge('gridgate_caller_requests', text, ['state'], (gauge) => {
      const callers = [...this.callers.values()];
      gauge.set({ state: 'working' }, sum(callers.map(({ atWork }) => atWork)));
      gauge.set({ state: 'waiting' }, sum(callers.map(({ waiting }) => waiting.size)));
      gauge.set({ state: 'held' }, sum(callers.map(({ turns }) => turns.waiting)));
    });
  }

  /**
   * Counts the request for the caller until its answer is sent or its client is gone; waits for a place first, then for
   * its turn with the database, where it needs one. Undefined when there is nothing to wait for. Throws Problem 429 when too many of the caller wait already, or none of its requests ends
   * in time, and 503 when its turn does not come in time.
   */
  admit(key: string, request: HttpRequest, isTurnNeeded = true): Promise<void> | undefined {
    const response = request.res;
    if (!response || response.destroyed) throw gone();
    const caller = this.callerOf(key);
    const turn = new Turn(caller.turns, this.limits);
    const hold = (): void => {
      const end = (): void => {
        response.off('close', end);
        STEPS_ASIDE.delete(request);
        turn.end(response.writableFinished);
        this.leave(caller);
      };
      response.once('close', end);
      STEPS_ASIDE.set(request, end);
    };
    const enter = (): Promise<void> | undefined => {
      if (!isTurnNeeded) {
        keepTurn(request, turn);
        return undefined;
      }
      setTurn(request, turn);
      return turn.tryEnter() ? undefined : turn.enter();
    };
    if (!this.take(caller)) return this.wait(caller, response, hold).then(enter);
    hold();
    return enter();
  }

  /** Point reads of all callers in few statements, which have together what one caller may have of the database. */
  joined<Key, Row>(read: (keys: Key[]) => Promise<Map<Key, Row>>): JoinedReads<Key, Row> {
    return new JoinedReads(this.limits, read);
  }

  /** Writes of all callers in few statements, of which at most two are under way: while one commits the next one gathers. */
  joinedWrites<Item extends object, Result>(
    write: (items: Item[]) => Promise<Map<Item, Result>>,
  ): JoinedWrites<Item, Result> {
    const most = Math.min(MOST_JOINED_WRITES, this.limits.most);
    return new JoinedWrites({ ...this.limits, most }, write);
  }

  /** The request is at work no more, although its answer goes on: a stream, which is bounded otherwise. */
  stepAside(request: HttpRequest): void {
    STEPS_ASIDE.get(request)?.();
    setTurn(request, undefined);
  }

  /** Runs the work as one request at work of the caller, in its turn. Throws Problem 429 and 503 as `admit`. */
  async during<T>(key: string, request: HttpRequest, work: () => Promise<T>): Promise<T> {
    const response = request.res;
    if (!response || response.destroyed) throw gone();
    const caller = this.callerOf(key);
    if (!this.take(caller)) await this.wait(caller, response);
    const turn = new Turn(caller.turns, this.limits);
    const end = (): void => turn.end(response.writableFinished);
    response.once('close', end);
    try {
      setTurn(request, turn);
      await turn.enter();
      return await work();
    } finally {
      response.off('close', end);
      setTurn(request, undefined);
      turn.end(true);
      this.leave(caller);
    }
  }

  private callerOf(key: string): Caller {
    const known = this.callers.get(key);
    if (known) return known;
    if (this.callers.size >= this.many) this.forgetIdle();
    const caller: Caller = { atWork: 0, waiting: new Set(), turns: new CallerTurns() };
    this.callers.set(key, caller);
    return caller;
  }

  private take(caller: Caller): boolean {
    if (caller.atWork >= this.places) return false;
    caller.atWork += 1;
    return true;
  }

  /**
   * Resolves with a place of the caller taken. `entered` is called at once with it: the client may be gone before
   * whoever waits for the promise hears of it.
   */
  private async wait(
    caller: Caller,
    response: NonNullable<HttpRequest['res']>,
    entered?: () => void,
  ): Promise<void> {
    if (caller.waiting.size >= this.places * WAITING_PER_PLACE) throw this.refused('queue-full');
    await new Promise<void>((resolve, reject) => {
      const settle = (outcome: () => void): void => {
        clearTimeout(waiter.timer);
        caller.waiting.delete(waiter);
        response.off('close', leave);
        outcome();
      };
      const leave = (): void => settle(() => reject(gone()));
      const waiter: Waiter = {
        enter: () => {
          settle(resolve);
          entered?.();
        },
        timer: setTimeout(
          () => settle(() => reject(this.refused('time-out'))),
          this.longestWaitMs,
        ).unref(),
      };
      caller.waiting.add(waiter);
      response.once('close', leave);
    });
  }

  /** Not at the end of each request: that costs more than all the rest, as in RequestsUnderWay. */
  private forgetIdle(): void {
    for (const [key, { atWork, turns }] of this.callers) {
      if (atWork === 0 && turns.isIdle) this.callers.delete(key);
    }
    this.many = Math.max(MANY_CALLERS, this.callers.size * 2);
  }

  /** The place goes to the one that has waited longest. */
  private leave(caller: Caller): void {
    if (caller.waiting.size === 0) {
      caller.atWork -= 1;
      return;
    }
    const [next] = caller.waiting;
    next?.enter();
  }

  private refused(reason: 'queue-full' | 'time-out'): Problem {
    this.refusals.inc({ reason });
    const detail = `More than ${this.places} requests of yours are at work at once`;
    return new Problem('rate.limited', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

/** Nobody reads it: the connection is gone. */
function gone(): Problem {
  return new Problem('rate.limited', 'The client is gone');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
