import { loopTurn } from './loop-turn.js';

const SLICE_MS = 2;
/** Work that has rested more often is long: most requests never do. */
const SHORT_RESTS = 3;

/**
 * Cuts long work on the thread that answers requests into slices, between which everybody else has a turn:
 * `if (slices.isOver) await slices.rest();` wherever it may stop.
 */
export class Slices {
  private since = performance.now();

  constructor(private rests = 0) {}

  /** Of what is known to be long, or a part of such. */
  static ofLong(): Slices {
    return new Slices(SHORT_RESTS);
  }

  /** True when the work has had the thread for long enough. */
  get isOver(): boolean {
    return performance.now() - this.since >= SLICE_MS;
  }

  /** Lets others have their turn; other long work too, as much as fits into one. */
  async rest(): Promise<void> {
    this.rests += 1;
    await (this.rests > SHORT_RESTS ? loopTurn.nextForLong() : loopTurn.next());
    this.since = performance.now();
  }
}
