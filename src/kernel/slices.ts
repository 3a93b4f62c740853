import { loopTurn } from './loop-turn.js';

const SLICE_MS = 3;

/**
 * Cuts long work on the thread that answers requests into slices, between which everybody else has a turn:
 * `if (slices.isOver) await slices.rest();` wherever it may stop.
 */
export class Slices {
  private since = performance.now();

  /** True when the work has had the thread for long enough. */
  get isOver(): boolean {
    return performance.now() - this.since >= SLICE_MS;
  }

  /** Lets others have their turn; other long work too, as much as fits into one. */
  async rest(): Promise<void> {
    await loopTurn.next();
    this.since = performance.now();
  }
}
