const FIRST_MS = 1_000;
/** Work goes on so soon at the latest after the machine has recovered. */
const LONGEST_MS = 60_000;
/** After so long without a failed start the next pause is short again. */
const QUIET_MS = 30_000;

/**
 * How long a place takes no jobs after starts that the machine is to blame for: longer each time, since the machine would
 * go through the whole queue otherwise. Starts that fail during a pause are of the round that made it.
 */
export class StartPause {
  private pauseMs = 0;
  private untilMs = -Infinity;

  /** A start failed at that time, milliseconds. */
  failed(nowMs: number): void {
    if (!this.isOver(nowMs)) return;
    const isQuiet = nowMs - this.untilMs > QUIET_MS;
    this.pauseMs = isQuiet ? FIRST_MS : Math.min(LONGEST_MS, this.pauseMs * 2);
    this.untilMs = nowMs + this.pauseMs;
  }

  /** True when starts may be tried at that time. */
  isOver(nowMs: number): boolean {
    return nowMs >= this.untilMs;
  }
}
