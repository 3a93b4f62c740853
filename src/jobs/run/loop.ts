import { Problem, sleep } from '#src/kernel/index.js';
import type { Logger } from '#src/platform/index.js';

const FAULT_PAUSE_MS = 1_000;

/**
 * Work that is done again and again: at once when it is woken or says that there is more, else every `everyMs`
 * (a little jittered, so that instances do not march in step). One round at a time; a database that is away is
 * waited for. Never keeps the process alive.
 */
export class Loop {
  private readonly stopSignal = new AbortController();
  private running: Promise<void> | undefined;
  private isWoken = false;
  private wakeUp: (() => void) | undefined;

  constructor(
    readonly name: string,
    private readonly everyMs: number,
    private readonly round: () => Promise<boolean>,
    private readonly logger: Logger,
  ) {}

  /** Starts the first round soon. */
  start(): void {
    this.running ??= this.run();
  }

  /** The next round begins at once. */
  wake(): void {
    this.isWoken = true;
    this.wakeUp?.();
  }

  /** Wakes the loops that look for work; others keep their pace. */
  wakeOn(_reason: 'work'): void {
    if (['claim', 'admission', 'unplaceable'].includes(this.name)) this.wake();
  }

  /** Ends after the round under way. */
  async stop(): Promise<void> {
    this.stopSignal.abort(new Error('stopped'));
    this.wakeUp?.();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopSignal;
    while (!signal.aborted) {
      this.isWoken = false;
      let hasMore = false;
      let pauseMs = this.everyMs * (0.9 + Math.random() * 0.2);
      try {
        hasMore = await this.round();
      } catch (error) {
        this.note(error);
        pauseMs = FAULT_PAUSE_MS;
      }
      if (!hasMore && !this.isWoken && !signal.aborted) await this.pause(pauseMs);
    }
  }

  private async pause(milliseconds: number): Promise<void> {
    const woken = new Promise<void>((resolve) => (this.wakeUp = resolve));
    const timer = new AbortController();
    const timedOut = sleep(milliseconds, { signal: timer.signal, unref: true }).catch(() => {});
    await Promise.race([woken, timedOut]);
    timer.abort(new Error('woken'));
    this.wakeUp = undefined;
  }

  private note(error: unknown): void {
    const isAway = error instanceof Problem && error.status === 503;
    const level = isAway || this.stopSignal.signal.aborted ? 'debug' : 'error';
    this.logger[level]({ err: error, loop: this.name }, 'a round of background work failed');
  }
}
