import type { ChildProcess } from 'node:child_process';
import type { RunOrder } from '../executor.js';
import type { RunDirectory, StartRecord } from './run-directory.js';
import { SITE_PATH, type RunPlan } from './run-plan.js';

/** One run as this process knows it; everything that must survive is in its directory. */
export class LocalRun {
  /** PATH of its site. */
  path = SITE_PATH;
  program = '';
  startedMs = 0;
  maxRssBytes = 0;
  /** The payload has ended, its output is being collected. */
  isOver = false;
  /** Nobody wants it any more. */
  isStopped = false;
  /** It went over a limit. */
  isCondemned = false;
  /** Started by a predecessor of this process. */
  isAttached = false;
  private started: StartRecord | undefined;

  constructor(
    readonly order: RunOrder,
    readonly plan: RunPlan,
    readonly directory: RunDirectory,
  ) {}

  /** The leader of its session, once the wrapper has said who it is. */
  async leader(): Promise<StartRecord | undefined> {
    if (this.started) return this.started;
    const start = await this.directory.start();
    if (typeof start === 'object') this.started = start;
    return this.started;
  }

  /** Resolves when the wrapper has ended; rejects when it could not be started. */
  async exited(child: ChildProcess): Promise<void> {
    child.unref();
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => resolve());
    });
  }
}
