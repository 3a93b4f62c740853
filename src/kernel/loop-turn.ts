/** Work on requests that begins in one turn of the event loop; the last piece may take it further. */
const BUDGET_MS = 4;
/** So long after a request has begun its work, long work counts as done beside that of others. */
const BESIDE_MS = 100;
/** Long work beside that of others pauses so many times as long as it has taken. */
const PAUSES = 5;

/**
 * One turn of the event loop belongs to all: when the work of a few milliseconds that every request may be comes from
 * two hundred connections at once, nobody else is heard until the last has had it. So only as much begins in one turn as
 * its budget takes; what is further waits for the next turns, in order. Long work (bodies of many megabytes) waits apart
 * from it and has, while others are served, a sixth of the time; alone it has all.
 */
export class LoopTurn {
  private began: number | undefined;
  private readonly waiting: (() => void)[] = [];
  private readonly long: (() => void)[] = [];
  private entered = -Infinity;
  private pausedUntil = -Infinity;
  private pause: NodeJS.Timeout | undefined;
  /** A piece of work, or what follows at once, is being done. */
  private isBusy = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Does the work now when the turn has room for it, else in one of the next turns. */
  enter(work: () => void): void {
    if (this.isFree()) work();
    else this.waiting.push(work);
  }

  /** Resolves when the turn has room: now, or in one of the next turns. What follows at once is the work. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isFree()) this.run(resolve);
      else this.waiting.push(resolve);
    });
  }

  /** Resolves in one of the next turns. */
  next(): Promise<void> {
    this.open();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Resolves in one of the next turns that has room for long work. */
  nextForLong(): Promise<void> {
    this.open();
    return new Promise((resolve) => this.long.push(resolve));
  }

  private isFree(): boolean {
    this.open();
    this.entered = this.now();
    return this.waiting.length === 0 && !this.isBusy && this.hasRoom;
  }

  private get hasRoom(): boolean {
    return this.began !== undefined && this.now() - this.began < BUDGET_MS;
  }

  private open(): void {
    if (this.began !== undefined) return;
    this.began = this.now();
    setImmediate(() => {
      this.began = undefined;
      this.goOn();
    });
  }

  private goOn(): void {
    const pauseMs = this.pausedUntil - this.now();
    if (this.waiting.length > 0 || (this.long.length > 0 && pauseMs <= 0)) {
      this.open();
      this.serve();
    } else if (this.long.length > 0) {
      this.pause ??= setTimeout(() => {
        this.pause = undefined;
        if (this.began === undefined) this.goOn();
      }, pauseMs);
    }
  }

  private serve(): void {
    if (this.isBusy || !this.hasRoom) return;
    const long = this.now() >= this.pausedUntil ? this.long.shift() : undefined;
    if (long) {
      const began = this.now();
      this.run(long, () => this.rest(this.now() - began));
      return;
    }
    const work = this.waiting.shift();
    if (work) this.run(work);
  }

  /** Nothing else begins before the work and what follows it at once is done. */
  private run(work: () => void, onDone?: () => void): void {
    this.isBusy = true;
    // The tick comes when all that follows at once has been done: only then is it known how long the work was.
    queueMicrotask(() =>
      process.nextTick(() => {
        this.isBusy = false;
        onDone?.();
        this.serve();
      }),
    );
    work();
  }

  private rest(tookMs: number): void {
    const now = this.now();
    if (now - this.entered < BESIDE_MS) this.pausedUntil = now + PAUSES * tookMs;
  }
}

/** The turns of the one event loop of this thread. */
export const loopTurn = new LoopTurn();
