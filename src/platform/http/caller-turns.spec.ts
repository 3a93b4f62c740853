import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import {
  arriving,
  CallerTurns,
  endTurn,
  keepTurn,
  outOfTurn,
  setTurn,
  takeTurn,
  Turn,
} from './caller-turns.js';

const LIMITS = { most: 1, longestWaitMs: 25_000, longestWaitInDoubtMs: 5, isInDoubt: () => false };
const OVERLOADED = { status: 503, code: 'service.overloaded', retryAfterSeconds: 1 };

/** A request whose body comes as it is pushed. */
function requestWith(turn: Turn): IncomingMessage & Readable {
  const request = new Readable({ read: () => undefined }) as unknown as IncomingMessage & Readable;
  setTurn(request, turn);
  return request;
}

describe('turns of the requests of one caller', () => {
  it('are taken by as many as may, and by the others in the order they came', async () => {
    const turns = new CallerTurns();
    const limits = { ...LIMITS, most: 2 };
    const all = Array.from({ length: 4 }, () => new Turn(turns, limits));
    const order: number[] = [];
    const entered = all.map(async (turn, index) => {
      await turn.enter();
      order.push(index);
    });
    await Promise.all(entered.slice(0, 2));
    expect([order, turns.waiting]).toEqual([[0, 1], 2]);
    all[1]?.end(false);
    await entered[2];
    all[1]?.end(false);
    expect([order, turns.waiting]).toEqual([[0, 1, 2], 1]);
    all[0]?.leave();
    await entered[3];
    for (const turn of all) turn.end(false);
    expect([order, turns.isIdle]).toEqual([[0, 1, 2, 3], true]);
  });

  it('may be kept until they are needed', async () => {
    const turns = new CallerTurns();
    const [first, kept] = [1, 2].map(() => new Turn(turns, LIMITS)) as [Turn, Turn];
    const request = new Readable({ read: () => undefined }) as unknown as IncomingMessage;
    await takeTurn(request); // it has none
    keepTurn(request, kept);
    await outOfTurn(request, async () => first.enter());
    const taking = takeTurn(request);
    expect(turns.waiting).toBe(1);
    first.end(true);
    await taking;
    await takeTurn(request); // once is enough
    expect([kept.tryEnter(), turns.isIdle]).toEqual([true, false]);
    kept.end(true);
    expect(turns.isIdle).toBe(true);
  });

  it('are refused when they do not come in time, and when the request is over', async () => {
    const turns = new CallerTurns();
    const [first, late, over] = [1, 2, 3].map(
      () => new Turn(turns, { ...LIMITS, longestWaitMs: 10 }),
    ) as [Turn, Turn, Turn];
    await first.enter();
    const leaving = over.enter();
    over.end(false);
    await expect(leaving).rejects.toMatchObject({ ...OVERLOADED, detail: 'The client is gone' });
    await expect(over.enter()).rejects.toMatchObject(OVERLOADED);
    await expect(late.enter()).rejects.toMatchObject({
      ...OVERLOADED,
      detail: 'Other requests of yours use what one caller may have of the database',
    });
    first.end(false);
    late.end(false);
    expect(turns.isIdle).toBe(true);
  });

  it('are needed by no request that is answered: what it still does goes on', async () => {
    const turns = new CallerTurns();
    const turn = new Turn(turns, LIMITS);
    const request = requestWith(turn);
    await turn.enter();
    const sent = outOfTurn(request, async () => {
      turn.end(true);
      return Promise.resolve('sent');
    });
    await expect(sent).resolves.toBe('sent');
    expect(turns.isIdle).toBe(true);
  });

  it('are refused soon while the database does not answer', async () => {
    const turns = new CallerTurns();
    const limits = { ...LIMITS, isInDoubt: () => true };
    const [first, second] = [new Turn(turns, limits), new Turn(turns, limits)];
    await first.enter();
    await expect(second.enter()).rejects.toMatchObject({ code: 'service.unavailable' });
  });

  it('are left to others while a request waits for somebody else, and come again', async () => {
    const turns = new CallerTurns();
    const [first, second] = [new Turn(turns, LIMITS), new Turn(turns, LIMITS)];
    const request = requestWith(first);
    await first.enter();
    let goOn: () => void = () => undefined;
    const done: string[] = [];
    const aside = outOfTurn(request, async () => {
      await new Promise<void>((resolve) => (goOn = resolve));
      return 'answer';
    }).then((answer) => done.push(answer));
    await second.enter();
    goOn();
    await new Promise((resolve) => setImmediate(resolve));
    expect([done, turns.waiting]).toEqual([[], 1]);
    second.end(false);
    await aside;
    expect(done).toEqual(['answer']);
    endTurn(request);
    endTurn(request);
    expect(turns.isIdle).toBe(true);
  });

  it('are kept while the body is there, and left while it is not', async () => {
    const turns = new CallerTurns();
    const turn = new Turn(turns, LIMITS);
    const request = requestWith(turn);
    await turn.enter();
    const chunks = arriving(request);
    request.push('a');
    await new Promise((resolve) => setImmediate(resolve));
    expect(String((await chunks.next()).value)).toBe('a');
    expect(turns.isIdle).toBe(false);
    const next = chunks.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns.isIdle).toBe(true);
    request.push('b');
    expect(String((await next).value)).toBe('b');
    expect(turns.isIdle).toBe(false);
    request.push(null);
    expect((await chunks.next()).done).toBe(true);
    turn.end(false);
    expect(turns.isIdle).toBe(true);
  });

  it('are not needed by work of nobody', async () => {
    expect(await outOfTurn(undefined, () => Promise.resolve(7))).toBe(7);
  });
});
