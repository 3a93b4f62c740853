import { sleep } from '#src/kernel/index.js';
import type { RunLife } from '#src/jobs/run/index.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import type { RunCleaner } from './run-cleaner.js';
import { isAlive } from '../watch/process-table.js';

/** A supervisor needs no time to write its first line; one that has taken so long cannot. */
const STARTING_MS = 10_000;
const NOTHING_LEFT = 'Nothing is left of the run on its machine';

/** Finds out by its directory what became of a run of which this process knows nothing: its predecessor was killed. */
export class RunRecovery {
  /** `boot` is that of the machine as it runs now. */
  constructor(
    private readonly context: LocalContext,
    private readonly life: RunLife<LocalRun>,
    private readonly cleaner: RunCleaner,
    private readonly boot: string,
  ) {}

  /**
   * True when the payload of a run that was claimed in that boot was started, so that its end is to be waited for. Any other run is
   * given back or lost here, but for one whose start is being written this moment: the next look tells.
   */
  async wasStarted(run: LocalRun, boot: string): Promise<boolean> {
    run.startedMs = run.directory.startedMs() ?? this.context.parts.clock.now();
    const { accounts } = this.context.place;
    run.uid = run.directory.account() ?? (await accounts?.accountOf(run.directory.path));
    if (!this.isCertain(run, boot)) {
      await this.life.failUnknown(run, NOTHING_LEFT);
      return false;
    }
    // Who creates the start record first decides: if it is us, the program will never start.
    const start = run.directory.abandon() ? 'abandoned' : run.directory.start();
    if (start === 'being written' && !(await this.isNeverWritten(run))) return false;
    if (typeof start === 'object') return true;
    await this.life.requeue(run);
    return false;
  }

  /**
   * True when a run whose supervisor is gone, or ended here, has no start record, for example since the disk was full: its
   * program comes after that.
   */
  async isNeverStarted(run: LocalRun): Promise<boolean> {
    if (typeof run.directory.start() === 'object') return false;
    if (run.isAttached) await this.cleaner.endProcesses(run); // else it was seen to end
    return typeof run.directory.start() !== 'object';
  }

  /** True when the start record was made so long ago that nobody writes into it any more. */
  private async isNeverWritten(run: LocalRun): Promise<boolean> {
    run.isAttached = true;
    const age = this.context.parts.clock.now() - (run.directory.startWrittenMs() ?? 0);
    return age >= STARTING_MS && this.isNeverStarted(run);
  }

  /**
   * True when the files of a run can tell whether it was started. The directory is there before the permission to
   * start is asked for, and stays until the job is let go of; what was written shortly before the machine went down
   * may be lost.
   */
  private isCertain(run: LocalRun, boot: string): boolean {
    if (!run.directory.exists()) return false;
    if (boot === this.boot) return true;
    const start = run.directory.start(); // of a record that is empty after a loss of power the program may have been started
    return typeof start === 'object' || start === 'abandoned';
  }
}

/** Waits for the end of a run that nobody tells of; false when it is not waited for any more. */
export async function untilEnd(run: LocalRun, isClosed: () => boolean): Promise<boolean> {
  for (let pause = 20; !isClosed(); pause = Math.min(1_000, pause * 2)) {
    const leader = run.leader();
    const isEnded = run.directory.exit() !== undefined || !leader || !isAlive(leader);
    if (isEnded) return true;
    await sleep(pause, { unref: true });
  }
  return false;
}
