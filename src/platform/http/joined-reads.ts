import { SetMetadata, type ExecutionContext } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { CallerTurns, Turn, type TurnLimits } from './caller-turns.js';

/** Keys of one statement at most. */
const MOST_KEYS = 200;

interface Asked<Row> {
  settle: (row: Row | undefined) => void;
  refuse: (error: unknown) => void;
}

/**
 * Reads of single rows that come together are one statement: what waits at the end of a turn of the event loop goes
 * together, and while as many statements are under way as one caller may have, all further reads wait for the next one. A
 * row is never older than the question for it. A fault that one of the keys may have caused is asked again for each alone.
 */
export class JoinedReads<Key, Row> {
  private readonly turns = new CallerTurns();
  private waiting = new Map<Key, Asked<Row>[]>();
  private isComing = false;

  constructor(
    private readonly limits: TurnLimits,
    private readonly read: (keys: Key[]) => Promise<Map<Key, Row>>,
  ) {}

  /** The row of the key, undefined when there is none. Two askers of one key may be given the same object. */
  get(key: Key): Promise<Row | undefined> {
    return new Promise((settle, refuse) => {
      const asked = this.waiting.get(key);
      if (asked) asked.push({ settle, refuse });
      else this.waiting.set(key, [{ settle, refuse }]);
      if (this.isComing) return;
      this.isComing = true;
      setImmediate(() => void this.go());
    });
  }

  /** Reads what waits when its turn has come. Never rejects. */
  private async go(): Promise<void> {
    const turn = new Turn(this.turns, this.limits);
    try {
      if (!turn.tryEnter()) await turn.enter();
      await this.serve(this.take());
    } catch (error) {
      refuseAll(this.take(), error); // the turn did not come in time: for none of those that wait for it
    } finally {
      turn.leave();
    }
  }

  private take(): Map<Key, Asked<Row>[]> {
    const all = this.waiting;
    const taken = new Map([...all].slice(0, MOST_KEYS));
    this.waiting = new Map([...all].slice(MOST_KEYS));
    this.isComing = this.waiting.size > 0;
    if (this.isComing) setImmediate(() => void this.go());
    return taken;
  }

  private async serve(asked: Map<Key, Asked<Row>[]>): Promise<void> {
    try {
      const rows = await this.read([...asked.keys()]);
      for (const [key, askers] of asked) for (const { settle } of askers) settle(rows.get(key));
    } catch (error) {
      if (asked.size === 1 || error instanceof Problem) refuseAll(asked, error);
      else for (const one of asked) await this.serve(new Map([one]));
    }
  }
}

/**
 * Writes that come together are one statement, in the manner of JoinedReads: each waits until its statement is committed. A
 * statement that fails as a whole, for which `write` must have left nothing, is done again for each alone.
 */
export class JoinedWrites<Item extends object, Result> {
  private readonly calls: JoinedReads<Item, Result>;

  constructor(limits: TurnLimits, write: (items: Item[]) => Promise<Map<Item, Result>>) {
    this.calls = new JoinedReads(limits, write);
  }

  /** What became of the item. Throws what its statement has failed with, or Problem 503 when that does not come in time. */
  async write(item: Item): Promise<Result> {
    return (await this.calls.get(item)) as Result;
  }
}

function refuseAll<Key, Row>(asked: Map<Key, Asked<Row>[]>, error: unknown): void {
  for (const { refuse } of [...asked.values()].flat()) refuse(error);
}

const WITHOUT_TURN = 'gridgate:without-turn';

/** Declares that a handler asks the database by joined reads only, or first (`takeTurn`): it begins without a turn of its caller (decision 0421). */
export const WithoutTurn = (): MethodDecorator => SetMetadata(WITHOUT_TURN, true);

/** False for a handler with `@WithoutTurn`. */
export function needsTurn(context: ExecutionContext): boolean {
  return Reflect.getMetadata(WITHOUT_TURN, context.getHandler()) !== true;
}
