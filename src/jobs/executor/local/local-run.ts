import type { RunOrder } from '../executor.js';
import type { RunDirectory, StartRecord } from './run-directory.js';
import { SITE_PATH, type RunPlan } from './run-plan.js';

/** One run as this process knows it; everything that must survive is in its directory. */
export class LocalRun {
  /** PATH of its site. */
  path = SITE_PATH;
  program = '';
  /** When it was taken, milliseconds. */
  takenMs = 0;
  /** When the payload began, milliseconds; 0 before that. */
  startedMs = 0;
  maxRssBytes = 0;
  /** Its processes at the last look: pid → start. */
  readonly seen = new Map<number, string>();
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

  get key(): string {
    return String(this.order.jid);
  }

  /** The leader of its session, once the wrapper has said who it is. */
  leader(): StartRecord | undefined {
    if (this.started) return this.started;
    const start = this.directory.start();
    if (typeof start === 'object') this.started = start;
    return this.started;
  }
}
