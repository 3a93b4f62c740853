import { type RunInputs, type RunOrder, type RunPlan, SITE_PATH } from '#src/jobs/run/index.js';
import type { Gpu } from './gpus.js';
import type { Share } from './machine-load.js';
import type { RunDirectory, StartRecord } from './run-directory.js';
import type { RunTraces } from '../watch/run-members.js';

/** One run as this process knows it; everything that must survive is in its directory. */
export class LocalRun {
  /** PATH of its site. */
  path = SITE_PATH;
  program = '';
  /** What it is told of its input data, and what is brought to it. */
  inputs: RunInputs = { fetched: [] };
  /** Ends what is on its way to it, or from it. */
  readonly transfers = new AbortController();
  /** Its site lets its jobs use the network. */
  hasNetwork = false;
  /** When its token is to be replaced, milliseconds; Infinity for a run without one. */
  tokenDueMs = Infinity;
  /** What it takes of the machine, from its start on. */
  share: Share | undefined;
  /** Processors that it may use, by their numbers; empty for all. */
  processors: readonly number[] = [];
  /** Its GPUs while this process starts it and sees it run; what counts beside stands in its directory. */
  gpus: readonly Gpu[] = [];
  /** Its account; undefined for the service's own. */
  uid: number | undefined;
  /** When its permission to start ends, seconds of /proc/uptime; undefined: never. */
  startUntilSeconds: number | undefined;
  /** When it was taken, milliseconds. */
  takenMs = 0;
  /** When the payload began, milliseconds; 0 before that. */
  startedMs = 0;
  /** The same by `secondsOfBoot`; undefined before that. */
  startedSeconds: number | undefined;
  /** From its start to its end, where this process has seen both. */
  wallSeconds: number | undefined;
  maxRssBytes = 0;
  maxDiskBytes = 0;
  /** CPU at the last look, for a run that was ended before it could tell. */
  cpuSeconds = 0;
  /** The payload has ended, its output is being collected. */
  isOver = false;
  /** Nobody wants it any more. */
  isStopped = false;
  /** The limit that it went over. */
  limitReason: string | undefined;
  /** Started by a predecessor of this process. */
  isAttached = false;
  private started: StartRecord | undefined;
  private ownGroup: string | undefined;

  constructor(
    readonly order: RunOrder,
    readonly plan: RunPlan,
    readonly directory: RunDirectory,
  ) {}

  get key(): string {
    return String(this.order.jid);
  }

  /** By what its processes are found. */
  traces(): RunTraces {
    return { leader: this.leader(), uid: this.uid };
  }

  /** Path of its control group, once it was noted. */
  group(): string | undefined {
    return (this.ownGroup ??= this.directory.group());
  }

  /** The leader of its session, once the supervisor has said who it is. */
  leader(): StartRecord | undefined {
    return (this.started ??= this.directory.leader());
  }
}
