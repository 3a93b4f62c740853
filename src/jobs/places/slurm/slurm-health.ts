import { SlurmError } from './slurm-error.js';
import type { OpenSlurmParts } from './slurm-parts.js';

const EVERY_MS = 5_000;
/** Numbers of what lies between slurmrestd and its controller. */
const PROTOCOL = { first: 1000, last: 1999 };

/** Whether a cluster answers, found out by asking now and then. While it does not, it is given no new jobs. */
export class SlurmHealth {
  /** Why it does not answer; null when it does, undefined before the first answer. */
  fault: string | null | undefined;
  private asking: Promise<void> | undefined;
  private askedMs = -Infinity;

  constructor(
    private readonly parts: OpenSlurmParts,
    /** It answers again. */
    private readonly onBack: () => void,
  ) {}

  /** Asks when it is time to; returns at once and never throws. */
  look(): void {
    const now = this.parts.clock.now();
    if (this.asking !== undefined || now - this.askedMs < EVERY_MS) return;
    this.asking = this.ask().finally(() => {
      this.askedMs = this.parts.clock.now();
      this.asking = undefined;
    });
  }

  private async ask(): Promise<void> {
    const before = this.fault;
    this.fault = await this.faultOf();
    const { logger, executorId } = this.parts;
    if (before === this.fault) return;
    if (this.fault !== null) {
      logger.warn({ executor: executorId, fault: this.fault }, 'a Slurm cluster cannot be used');
      return;
    }
    if (before !== undefined) logger.info({ executor: executorId }, 'a Slurm cluster is back');
    this.onBack();
  }

  private async faultOf(): Promise<string | null> {
    const { api, accounts } = this.parts;
    try {
      await api.ping();
      return null;
    } catch (error) {
      if (!(error instanceof SlurmError)) return error instanceof Error ? error.message : 'unknown';
      const { number, message } = error;
      const isOfAll = number === 0 || (number >= PROTOCOL.first && number <= PROTOCOL.last);
      // Where jobs have accounts of their own, that of the settings may be none of this cluster.
      return accounts.only === undefined && !isOfAll ? null : message;
    }
  }
}
