import type { Clock } from '#src/kernel/index.js';
import type { RunCleaner } from './run-cleaner.js';
import type { RunWatchdog } from './run-watchdog.js';

/** What slipped away from runs that are over, and what a fault has left of them, is looked for so often. */
const STRAYS_MS = 30_000;

/** Removes what is left of runs that neither the database nor this process knows any more. */
export class RunRemains {
  private straysAt = 0;
  /** Directories of runs at the last look: those that nobody knows at the next one are removed. */
  private seen: readonly string[] | undefined;

  constructor(
    private readonly cleaner: RunCleaner,
    private readonly watchdog: RunWatchdog,
    private readonly clock: Clock,
  ) {
    // At the first time that is whatever a predecessor left: nothing of this process is there yet.
    this.seen = cleaner.namesOfRuns();
  }

  /**
   * Removes all that is not among the known. Only what was there before the database was asked for them: of a younger
   * one its answer says nothing.
   */
  async remove(known: ReadonlySet<string>): Promise<void> {
    const { seen } = this;
    this.seen = undefined;
    if (seen) await this.cleaner.removeRemains(seen.filter((name) => !known.has(name)));
    const now = this.clock.now();
    if (now - this.straysAt < STRAYS_MS) return;
    this.straysAt = now;
    this.seen = this.cleaner.namesOfRuns();
    await this.watchdog.endStrays(new Set([...known, ...this.seen]));
  }
}
