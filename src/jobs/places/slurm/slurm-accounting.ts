import { usageParameters, type RunUsage } from '../../run/run-usage.js';
import type { ExitRecord } from './run-record.js';
import { SlurmError } from './slurm-error.js';
import { forEachOf, type OpenSlurmParts } from './slurm-parts.js';
import type { SlurmRun } from './slurm-run.js';
import type { UseOf } from './slurm-use.js';

/** slurmdbd hears of a job's end after the job has ended, and of many late: so long it is asked for. */
const PATIENCE_MS = 300_000;
const FIRST_MS = 2_000;
/** Where slurmrestd has no accounting it is not asked again for so long. */
const OFF_MS = 600_000;
const AT_ONCE = 4;
/** More that wait are forgotten, the oldest first: what their wrappers measured stays. */
const MAX_WAITING = 10_000;

interface Wanted {
  run: SlurmRun;
  of: UseOf;
  untilMs: number;
  nextMs: number;
  pauseMs: number;
}

/**
 * Puts what Slurm's accounting has measured in the place of what the wrapper of a run did. That it counts whatever
 * process, and samples memory oftener, is worth a second look; the end of no job waits for it, and a service that stops
 * meanwhile leaves the numbers of the wrapper.
 */
export class SlurmAccounting {
  private wanted: Wanted[] = [];
  private offUntilMs = 0;
  private working: Promise<void> | undefined;

  constructor(private readonly parts: OpenSlurmParts) {}

  /** The end of a run was written. */
  add(run: SlurmRun, record: ExitRecord | undefined): void {
    const { account, batch } = run;
    const now = this.parts.clock.now();
    if (now < this.offUntilMs || account === undefined || batch?.arrayId === undefined) return;
    const jobId = Number(record?.batchId);
    if (!(jobId > 0)) return;
    const index = batch.keys.length > 1 ? run.index : undefined;
    const of = { jobId, arrayId: batch.arrayId, index, account: account.name };
    const times = { untilMs: now + PATIENCE_MS, nextMs: now + FIRST_MS, pauseMs: FIRST_MS };
    this.wanted.push({ run, of, ...times });
    if (this.wanted.length > MAX_WAITING) this.wanted.splice(0, this.wanted.length - MAX_WAITING);
  }

  /** Asks for those whose time has come; never throws. Returns at once while it is asking. */
  look(): void {
    const now = this.parts.clock.now();
    const due = this.wanted.filter(({ nextMs }) => nextMs <= now);
    if (due.length === 0 || this.working !== undefined) return;
    this.working = forEachOf(due, AT_ONCE, async (one) => this.ask(one)).finally(() => {
      this.working = undefined;
    });
  }

  /** After the question that is under way. */
  async close(): Promise<void> {
    this.wanted = [];
    await this.working;
  }

  private async ask(one: Wanted): Promise<void> {
    const { api, clock, logger } = this.parts;
    // Another answer of the same look has told that there is no accounting, or the service is being stopped.
    if (!this.wanted.includes(one)) return;
    try {
      const use = await api.as(one.of.account).use(one.of);
      if (use !== undefined) {
        await this.keep(one.run, { source: 'slurmdbd', ...use });
        this.drop(one);
        return;
      }
    } catch (error) {
      if (error instanceof SlurmError && error.fault === 'refused') {
        logger.info({ err: error }, 'slurmrestd has no accounting; usage is what wrappers measure');
        this.offUntilMs = clock.now() + OFF_MS;
        this.wanted = [];
        return;
      }
      logger.debug({ err: error, jobId: one.of.jobId }, 'the accounting does not answer');
    }
    one.pauseMs *= 2;
    one.nextMs = clock.now() + one.pauseMs;
    if (one.nextMs > one.untilMs) this.drop(one);
  }

  private async keep({ order }: SlurmRun, usage: RunUsage): Promise<void> {
    const { config, repository } = this.parts;
    const { jid, attempt } = order;
    await repository.correctUse({ jid, attempt }, usage);
    await repository.addParameters({ jid, attempt }, usageParameters(usage, config));
  }

  private drop(one: Wanted): void {
    this.wanted = this.wanted.filter((other) => other !== one);
  }
}
