import type { WorkerConfig } from '../runs/worker-config.js';

/** What the service tells its own worker at its start, over its standard input. */
export interface OwnWorkerOrder {
  id: string;
  version: string;
  logLevel: string;
  config: WorkerConfig;
}

/** The exit code of a worker on a machine where no job can run. */
export const EXIT_OFF = 78;
