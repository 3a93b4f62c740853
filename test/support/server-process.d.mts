import type { ChildProcess } from 'node:child_process';

/** A server in a process of its own. */
export interface ServerProcess {
  child: ChildProcess;
  /** What it said it is ready on. */
  url: string;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** The newest part of its log (standard error). */
  log(): string;
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

export function startServerProcess(options: {
  root: string;
  env: Record<string, string>;
  entry?: string;
  node?: string[];
  /** Words before the command: programs that become it, such as setpriv. */
  through?: string[];
  /** Node's own path, as `through` sees it. */
  program?: string;
  /** Directory that gets the stalls of its event loop; by default that of the run. */
  stallsIn?: string;
}): Promise<ServerProcess>;
