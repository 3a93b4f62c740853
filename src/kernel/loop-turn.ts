/** Work on requests that begins in one turn of the event loop; the last piece may take it further. */
const BUDGET_MS = 5;

/**
 * One turn of the event loop belongs to all: when the work of a few milliseconds that every request may be comes from
 * two hundred connections at once, nobody else is heard until the last has had it. So only as much begins in one turn as
 * its budget takes; what is further waits for the next turns, in order.
 */
export class LoopTurn {
  private began: number | undefined;
  private readonly waiting: (() => void)[] = [];

  /** Does the work now when the turn has room for it, else in one of the next turns. */
  enter(work: () => void): void {
    this.open();
    if (this.waiting.length === 0 && this.hasRoom) work();
    else this.waiting.push(work);
  }

  /** Resolves when the turn has room: now, or in one of the next turns. What follows at once is the work. */
  room(): Promise<void> {
    return new Promise((resolve) => this.enter(resolve));
  }

  /** Resolves in one of the next turns. */
  next(): Promise<void> {
    this.open();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private get hasRoom(): boolean {
    return this.began !== undefined && performance.now() - this.began < BUDGET_MS;
  }

  private open(): void {
    if (this.began !== undefined) return;
    this.began = performance.now();
    setImmediate(() => {
      this.began = undefined;
      if (this.waiting.length === 0) return;
      this.open();
      this.serve();
    });
  }

  private serve(): void {
    const work = this.hasRoom ? this.waiting.shift() : undefined;
    if (!work) return;
    work();
    // The tick comes when all that follows at once has been done: only then is it known how long the work was.
    queueMicrotask(() => process.nextTick(() => this.serve()));
  }
}

/** The turns of the one event loop of this thread. */
export const loopTurn = new LoopTurn();
