import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Problem } from '#src/kernel/index.js';
import { ClientDisconnected } from './client-signal.js';

/** Bounds of turns; times in milliseconds. */
export interface TurnLimits {
  /** Requests of one caller that have their turn at once. */
  most: number;
  longestWaitMs: number;
  /** The same while the database does not answer. */
  longestWaitInDoubtMs: number;
  isInDoubt: () => boolean;
}

/** Which requests of one caller may use the database now; the others wait, the first of them first. */
export class CallerTurns {
  private inside = 0;
  private readonly queue = new Set<() => void>();

  /** Waiting now. */
  get waiting(): number {
    return this.queue.size;
  }

  /** True when no request has or wants a turn. */
  get isIdle(): boolean {
    return this.inside === 0 && this.queue.size === 0;
  }

  /** Takes a turn when fewer than `most` have theirs. */
  tryEnter(most: number): boolean {
    if (this.inside >= most) return false;
    this.inside += 1;
    return true;
  }

  /** Has `come` called, with a turn taken; the returned function takes the wish back. */
  wait(come: () => void): () => void {
    const next = (): void => {
      this.queue.delete(next);
      come();
    };
    this.queue.add(next);
    return () => this.queue.delete(next);
  }

  /** Gives a turn to the next one. */
  leave(): void {
    const [next] = this.queue;
    if (next) next();
    else this.inside -= 1;
  }
}

/** The turn of one request: taken before its handler begins, left while it waits for somebody else than the database. */
export class Turn {
  private state: 'out' | 'in' | 'answered' | 'gone' = 'out';
  private refuse: ((problem: Problem) => void) | undefined;

  constructor(
    private readonly turns: CallerTurns,
    private readonly limits: TurnLimits,
  ) {}

  /** Takes the turn if it can be had at once, or is not needed any more. */
  tryEnter(): boolean {
    if (this.state === 'out' && this.turns.tryEnter(this.limits.most)) this.state = 'in';
    return this.state === 'in' || this.state === 'answered';
  }

  /** Waits for the turn; an answered request needs none. Throws Problem 503 when it does not come in time, ClientDisconnected. */
  async enter(): Promise<void> {
    if (this.state === 'gone') throw new ClientDisconnected();
    if (!this.tryEnter()) await this.wait();
  }

  /** Lets the next one have it. */
  leave(): void {
    if (this.state !== 'in') return;
    this.state = 'out';
    this.turns.leave();
  }

  /** The request is over, answered or without anybody who waits for an answer: it leaves, also the queue. */
  end(isAnswered: boolean): void {
    this.leave();
    this.state = isAnswered ? 'answered' : 'gone';
    this.refuse?.(new ClientDisconnected());
  }

  private wait(): Promise<void> {
    const { longestWaitMs, longestWaitInDoubtMs, isInDoubt } = this.limits;
    return new Promise((resolve, reject) => {
      let waited = 0;
      const settle = (): void => {
        clearInterval(timer);
        takeBack();
        this.refuse = undefined;
      };
      this.refuse = (problem) => {
        settle();
        reject(problem);
      };
      const stepMs = Math.min(longestWaitInDoubtMs, longestWaitMs);
      const timer = setInterval(() => {
        waited += stepMs;
        if (isInDoubt()) this.refuse?.(Problem.unavailable('The database does not answer'));
        else if (waited >= longestWaitMs) this.refuse?.(late());
      }, stepMs).unref();
      const takeBack = this.turns.wait(() => {
        settle();
        this.state = 'in';
        resolve();
      });
    });
  }
}

const TURN = Symbol('turn of the request');
const LATER = Symbol('turn that the request may still take');
interface Turning {
  [TURN]?: Turn | undefined;
  [LATER]?: Turn | undefined;
}

/** Remembers the turn that the request has; undefined when it needs none. */
export function setTurn(request: IncomingMessage, turn: Turn | undefined): void {
  (request as Turning)[TURN] = turn;
}

/** Remembers the turn of a request that begins without one. */
export function keepTurn(request: IncomingMessage, turn: Turn): void {
  (request as Turning)[LATER] = turn;
}

/**
 * Waits for the turn of a handler `@WithoutTurn` that needs statements of its own after all; nothing for any other. Throws
 * Problem 503 when it does not come in time.
 */
export async function takeTurn(request: IncomingMessage): Promise<void> {
  const turn = (request as Turning)[LATER];
  if (!turn) return;
  (request as Turning)[LATER] = undefined;
  setTurn(request, turn);
  await turn.enter();
}

/**
 * Does what waits for somebody else than the database (the client, another service, a long job on files) while other
 * requests of the caller have their turn. Throws Problem 503 when the turn does not come again in time.
 */
export async function outOfTurn<T>(
  request: IncomingMessage | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const turn = request && (request as Turning)[TURN];
  if (!turn) return work();
  turn.leave();
  const result = await work();
  await turn.enter();
  return result;
}

/** Ends the turn of a request whose answer needs nothing of the database any more. */
export function endTurn(request: IncomingMessage): void {
  (request as Turning)[TURN]?.leave();
}

/** What arrives of the body, out of turn while nothing is there. */
export async function* arriving(
  request: IncomingMessage,
  source: AsyncIterable<Buffer> = request,
): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const buffer = source instanceof Readable ? source : request;
  try {
    for (;;) {
      const isHere = buffer.readableLength > 0 || buffer.readableEnded;
      const next = isHere ? await chunks.next() : await outOfTurn(request, () => chunks.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await chunks.return?.();
  }
}

function late(): Problem {
  const detail = 'Other requests of yours use what one caller may have of the database';
  return new Problem('service.overloaded', detail, { retryAfterSeconds: 1 });
}
