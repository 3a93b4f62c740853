/**
 * How long something has been watched without a gap. Silence says nothing about a time in which nobody could have
 * been heard: while the database is away no executor can write its signs of life.
 */
export class ObservationWindow {
  private since: number | undefined;
  private last = 0;

  constructor(private readonly longestGapMs: number) {}

  /** Notes a look that succeeded; answers for how many milliseconds the watch has been unbroken. */
  look(now: number): number {
    if (this.since === undefined || now - this.last > this.longestGapMs) this.since = now;
    this.last = now;
    return now - this.since;
  }
}
