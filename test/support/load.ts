/** What a load has seen. */
export interface LoadReport {
  done: number;
  /** What the action threw, in order. */
  failures: string[];
}

const FAILURE_PAUSE_MS = 20;
/** A load that fails this often has been forgotten by its test. */
const MOST_FAILURES = 2_000;

/** Keeps `workers` actions going until it is stopped; an action that throws is a failure and the load goes on. */
export class Load {
  private readonly report: LoadReport = { done: 0, failures: [] };
  private readonly running: Promise<unknown>;
  private isStopped = false;

  constructor(workers: number, action: (worker: number, turn: number) => Promise<void>) {
    this.running = Promise.all(
      Array.from({ length: workers }, async (_, worker) => {
        for (let turn = 0; !this.isStopped; turn += 1) {
          try {
            await action(worker, turn);
            this.report.done += 1;
          } catch (error) {
            this.report.failures.push((error as Error).message);
            // A call that fails at once must not keep the event loop from everything else.
            await new Promise((resolve) => setTimeout(resolve, FAILURE_PAUSE_MS));
            if (this.report.failures.length > MOST_FAILURES) return;
          }
        }
      }),
    );
  }

  /** Actions done so far. */
  get done(): number {
    return this.report.done;
  }

  /** Lets the actions under way finish. */
  async stop(): Promise<LoadReport> {
    this.isStopped = true;
    await this.running;
    return this.report;
  }
}
