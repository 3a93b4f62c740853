import { describe, expect, it } from '@jest/globals';
import { LoopTurn } from './loop-turn.js';
import { Slices } from './slices.js';

/** What a turn's clock shows, milliseconds; work takes it further. */
let now = 0;
const newTurn = (): LoopTurn => new LoopTurn(() => now);

/** Takes longer than one turn has room for. */
function work(): void {
  now += 21;
}

/** Counts the turns of the event loop while the work goes on. */
async function turnsDuring(done: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await done;
  isDone = true;
  return turns;
}

describe('a turn of the event loop', () => {
  it('takes work at once while it has room', () => {
    const turn = newTurn();
    const seen: number[] = [];
    for (const index of [1, 2, 3]) turn.enter(() => seen.push(index));
    expect(seen).toEqual([1, 2, 3]);
  });

  it('leaves what it has no room for to the next ones, in order', async () => {
    const turn = newTurn();
    const seen: string[] = [];
    turn.enter(() => {
      seen.push('first');
      work();
    });
    const others = ['second', 'third'].map(
      (name) => new Promise<void>((resolve) => turn.enter(() => resolve(void seen.push(name)))),
    );
    expect(seen).toEqual(['first']);
    await Promise.all(others);
    expect(seen).toEqual(['first', 'second', 'third']);
  });

  it('counts what follows a promise at once, however many promises are between', async () => {
    const turn = newTurn();
    const through = async (depth: number): Promise<void> => {
      if (depth === 0) await turn.next();
      else await through(depth - 1);
    };
    const pieces = Array.from({ length: 6 }, () => through(10).then(work));
    expect(await turnsDuring(Promise.all(pieces))).toBeGreaterThanOrEqual(5);
  });

  it('counts what follows room that was there at once', async () => {
    const turn = newTurn();
    const pieces = Array.from({ length: 8 }, () => turn.room().then(work));
    expect(await turnsDuring(Promise.all(pieces))).toBeGreaterThanOrEqual(5);
  });

  it('takes no new work before what waits', async () => {
    const turn = newTurn();
    const seen: string[] = [];
    const waiting = turn.next().then(() => seen.push('waiting'));
    turn.enter(() => seen.push('new'));
    await waiting;
    await turn.room();
    expect(seen).toEqual(['waiting', 'new']);
  });
});

describe('long work', () => {
  const PIECES = 50;
  const PIECE_MS = 3;

  /** How much of the time pieces of long work have had, when a turn of the loop takes one millisecond without them. */
  async function shareOf(turn: LoopTurn, everyTurn: () => void): Promise<number> {
    const began = now;
    let isOver = false;
    const pass = (): void => {
      now += 1;
      everyTurn();
      if (!isOver) setImmediate(pass);
    };
    setImmediate(pass);
    for (let piece = 0; piece < PIECES; piece += 1) {
      await turn.nextForLong();
      now += PIECE_MS;
    }
    isOver = true;
    return (PIECES * PIECE_MS) / (now - began);
  }

  it('has every turn when nobody else is served', async () => {
    expect(await shareOf(newTurn(), () => undefined)).toBeGreaterThan(0.7);
  });

  it('has a sixth of it beside others', async () => {
    const turn = newTurn();
    const share = await shareOf(turn, () => turn.enter(() => undefined));
    expect(share).toBeGreaterThan(0.13);
    expect(share).toBeLessThan(0.18);
  });

  it('goes on while requests fill every turn', async () => {
    const turn = newTurn();
    let isOver = false;
    const fill = (): void => {
      work();
      if (!isOver) turn.enter(fill);
    };
    turn.enter(fill);
    turn.enter(fill);
    for (let pieces = 0; pieces < 3; pieces += 1) await turn.nextForLong();
    isOver = true;
  });
});

describe('slices', () => {
  it('of many at work do not add up to one long turn', async () => {
    const long = async (): Promise<void> => {
      const slices = new Slices();
      for (let piece = 0; piece < 3; piece += 1) {
        for (const end = performance.now() + 5; performance.now() < end;);
        if (slices.isOver) await slices.rest();
      }
    };
    expect(await turnsDuring(Promise.all([long(), long(), long()]))).toBeGreaterThanOrEqual(6);
  });
});
