import { sleep } from '#src/kernel/index.js';

/** Why the instance is not ready, or undefined when this part is. Must not throw for an ordinary outage. */
export type ReadinessCheck = () => Promise<string | undefined>;

/** `degraded`: it answers, but not everything. */
export type ReadinessStatus = 'ready' | 'degraded' | 'not ready';

/** What a probe is told. */
export interface ReadinessReport {
  status: ReadinessStatus;
  /** Each part with `ok` or its reason. */
  checks: Record<string, string>;
}

const CHECK_DEADLINE_MS = 1_500;

/** What an instance needs before it may be sent requests; modules add their own checks. */
export class Readiness {
  private readonly checks = new Map<string, { check: ReadinessCheck; isNeeded: boolean }>();
  private draining = false;
  private complete = false;
  private decide!: () => void;
  private readonly decision = new Promise<void>((resolve) => (this.decide = resolve));
  private readonly stop = new AbortController();

  /** Aborts when the instance is about to stop: answers without an end of their own are ended then. */
  get stopping(): AbortSignal {
    return this.stop.signal;
  }

  /** True once everything of the start has happened. */
  get started(): boolean {
    return this.complete;
  }

  /** Everything of the start has happened. */
  start(): void {
    this.complete = true;
    this.decide();
  }

  /** The start takes long: nobody is to wait for it any more. */
  delay(): void {
    this.decide();
  }

  /** Resolves when the start is complete, or takes too long to be waited for. */
  whenStartedOrLate(): Promise<void> {
    return this.decision;
  }

  /**
   * Adds a named check; a check of the same name is replaced. Without a part that is not needed the instance is degraded,
   * without any other it is not ready.
   */
  add(name: string, check: ReadinessCheck, { isNeeded = true } = {}): void {
    this.checks.set(name, { check, isNeeded });
  }

  /** From now on the instance is not ready: it is about to stop. */
  drain(): void {
    this.draining = true;
    this.decide();
    this.stop.abort(new Error('the service is stopping'));
  }

  /** What of this instance is there; `ready` only when all is. */
  async report(): Promise<ReadinessReport> {
    const checks: Record<string, string> = {};
    if (!this.complete) checks['start'] = 'the service is starting';
    if (this.draining) checks['stop'] = 'the service is stopping';
    await Promise.all(
      [...this.checks].map(async ([name, { check }]) => {
        checks[name] = (await this.outcome(check)) ?? 'ok';
      }),
    );
    const failed = Object.keys(checks).filter((name) => checks[name] !== 'ok');
    const isDegraded = failed.every((name) => this.checks.get(name)?.isNeeded === false);
    return {
      status: failed.length === 0 ? 'ready' : isDegraded ? 'degraded' : 'not ready',
      checks,
    };
  }

  private async outcome(check: ReadinessCheck): Promise<string | undefined> {
    const cancel = new AbortController();
    const late = sleep(CHECK_DEADLINE_MS, { signal: cancel.signal, unref: true }).then(
      () => 'no answer in time',
      () => undefined,
    );
    try {
      return await Promise.race([check(), late]);
    } catch {
      return 'failed';
    } finally {
      cancel.abort();
    }
  }
}
