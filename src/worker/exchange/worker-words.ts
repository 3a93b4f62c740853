import type { WorkerFacts } from '#src/jobs/index.js';

/** Version of what a worker and the service say to each other. */
export const PROTOCOL = 1;

/** What a worker says of itself. */
export interface WorkerWords {
  name: string;
  version: string;
  facts: WorkerFacts;
}
