import type { ChildProcess } from 'node:child_process';

/** A running server. `child` and `kill` are those of one with a process of its own. */
export interface ServerProcess {
  child: ChildProcess;
  /** What it said it is ready on. */
  url: string;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** The newest part of its log (standard error). */
  log(): string;
  /** Calls the listener with all that it writes to its log from now on. */
  onLog(listener: (text: string) => void): void;
  stdout(): string;
  /** SIGTERM, and resolves when it has ended. */
  stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** SIGKILL, and resolves when it has ended. */
  kill(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** The environment of a server of the run; with a pooler (npm run test:database) it goes through it. */
export function throughPooler<T extends Record<string, string>>(
  env: T,
): T & { GRID_DATABASE_DIRECT_URL?: string };

/**
 * Starts the built server, in the host of this jest worker unless `ownProcess` is true, one of the options below it is given, or
 * the environment has more than settings of one process.
 */
export function startServerProcess(options: {
  root: string;
  env: Record<string, string>;
  /** For suites of start, stop, signals, kills, several processes and stalls. */
  ownProcess?: boolean;
  entry?: string;
  node?: string[];
  /** Words before the command: programs that become it, such as setpriv. */
  through?: string[];
  /** Node's own path, as `through` sees it. */
  program?: string;
  /** Directory that gets the stalls of its event loop; by default that of the run. */
  stallsIn?: string;
}): Promise<ServerProcess>;
