const MAX_AHEAD = 64;
/** Enough runs are prepared ahead to fill the places for this long, so that a free place never waits. */
const AHEAD_SECONDS = 0.5;
const SHORTEST_SECONDS = 0.005;

/** How many runs to take, from how long the last ones were: the shorter, the more are prepared ahead. */
export class RunPace {
  private averageSeconds = 1;

  constructor(private readonly slots: number) {}

  /** How many more to take when there are `taken`; many short runs come in a few large steps, not one by one. */
  wanted(taken: number): number {
    const free = this.slots + this.ahead - taken;
    return free >= 1 + this.ahead / 2 ? free : 0;
  }

  /** How many are prepared while all places are taken. */
  get ahead(): number {
    return Math.min(MAX_AHEAD, Math.floor((this.slots * AHEAD_SECONDS) / this.averageSeconds));
  }

  /** A run has ended after so long. */
  learn(seconds: number): void {
    this.averageSeconds = Math.max(SHORTEST_SECONDS, this.averageSeconds * 0.8 + seconds * 0.2);
  }

  /** The runs of now take at least so long. */
  slowDownTo(seconds: number): void {
    this.averageSeconds = Math.max(this.averageSeconds, seconds);
  }
}
