const SLICE_MS = 8;

/** Cuts long work on the thread that answers requests into slices, between which everybody else has a turn. */
export class Slices {
  private since = performance.now();

  /** True when the work has had the thread for long enough. */
  get isOver(): boolean {
    return performance.now() - this.since >= SLICE_MS;
  }

  /** Lets others have their turn. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.since = performance.now();
  }
}
