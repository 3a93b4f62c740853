import type { DiskUse } from './disk-use.js';
import type { RunTraces } from './run-members.js';

/** A run that is to be looked at. */
export interface WatchedRun extends RunTraces {
  name: string;
  directories: readonly string[];
  files: readonly string[];
  /**
   * How it is kept apart, and so what it has beside its directories: a `/dev/shm` of its own at `namespaces`; at `accounts` what its
   * account has where everybody may write. Nobody can tell at `none`.
   */
  level: 'namespaces' | 'accounts' | 'none';
}

/** What a run uses. */
export interface RunUse {
  processes: number;
  cpuSeconds: number;
  rssBytes: number;
  /** As of the last whole look; undefined before it. */
  disk: DiskUse | undefined;
  /** A process of it has open files that the service may not see, at two looks. */
  isHiding: boolean;
}

/** What the watcher is asked. */
export type WatchQuestion =
  | { kind: 'look'; runs: readonly WatchedRun[]; maxEntries: number }
  | { kind: 'end'; run: string; traces: RunTraces; timeoutMs: number }
  | { kind: 'orphans'; directory: string; alive: readonly string[] };

/** What it answers: uses by the name of the run; whether nothing is left; how many orphaned processes were killed. */
export interface WatchAnswers {
  look: Record<string, RunUse>;
  end: boolean;
  orphans: number;
}
