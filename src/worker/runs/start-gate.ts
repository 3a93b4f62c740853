import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineFaultOf, type Clock } from '#src/kernel/index.js';
import { StartPause } from '#src/jobs/run/index.js';
import type { Logger } from '#src/runtime/index.js';

const MIB = 2 ** 20;
/** A block of most file systems: an empty file finds room where nothing can be written. */
const TRIAL = Buffer.alloc(4096, 1);
const TRIAL_NAME = 'trial';

/**
 * Whether this machine may be given jobs: its disk has room, and what was started last did not fail by its fault. After such
 * a failure it is given none for a while, and then none before a file can be written.
 */
export class StartGate {
  /** Why no job may start here now, as a sentence; null when jobs may. */
  fault: string | null = null;
  private readonly pause = new StartPause();
  private failure: string | undefined;

  /** In the directory of runs, `path`, so many bytes must be free (GRID_LOCAL_MIN_FREE). */
  constructor(
    private readonly path: string,
    private readonly minFreeBytes: number,
    private readonly clock: Clock,
    private readonly logger: Pick<Logger, 'info' | 'warn'>,
  ) {}

  /** A start, or the end of a run, met that error; nothing when the machine is not to blame for it. */
  blame(error: unknown): void {
    const reason = machineFaultOf(error);
    if (reason === undefined) return;
    this.pause.failed(this.clock.now());
    this.failure = `jobs cannot be started on the machine: ${reason}`;
    this.tell(this.failure);
  }

  /** The same for what is tried again anyway. Throws any other error. */
  forgive(error: unknown): void {
    if (machineFaultOf(error) === undefined) throw error;
    this.blame(error);
  }

  /** Looks at the machine; to be called every second. */
  look(): void {
    try {
      const { bavail, bsize } = statfsSync(this.path);
      if (bavail * bsize < this.minFreeBytes) {
        const least = Math.ceil(this.minFreeBytes / MIB);
        this.tell(`the disk for jobs has less than ${least} MiB free (GRID_LOCAL_MIN_FREE)`);
        return;
      }
      if (this.failure !== undefined && this.pause.isOver(this.clock.now())) {
        this.tryToWrite();
        this.failure = undefined;
      }
      this.tell(this.failure ?? null);
    } catch (error) {
      this.blame(error);
    }
  }

  private tryToWrite(): void {
    const path = join(this.path, TRIAL_NAME);
    try {
      writeFileSync(path, TRIAL, { mode: 0o600 });
    } finally {
      rmSync(path, { force: true });
    }
  }

  private tell(fault: string | null): void {
    if (fault === this.fault) return;
    this.fault = fault;
    if (fault === null) this.logger.info('local jobs are started again');
    else this.logger.warn({ fault }, 'no local jobs are started');
  }
}
