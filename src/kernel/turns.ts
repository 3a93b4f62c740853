import { setImmediate } from 'node:timers/promises';

/** Long work on the thread that answers requests stops after this long and lets them have their turn. */
const SLICE_MS = 10;

/** Cuts work into slices: `if (turns.isDue) await turns.give();` wherever it may stop. */
export class Turns {
  private since = performance.now();

  /** True when this slice has lasted long enough. */
  get isDue(): boolean {
    return performance.now() - this.since > SLICE_MS;
  }

  /** Lets everybody else have a turn, then begins a new slice. */
  async give(): Promise<void> {
    await setImmediate();
    this.since = performance.now();
  }
}
