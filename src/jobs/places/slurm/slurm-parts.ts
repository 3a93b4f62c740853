import pLimit from 'p-limit';
import type { Config } from '#src/config/index.js';
import type { Logger } from '#src/runtime/index.js';
import type { SiteConnection } from '#src/registry/index.js';
import type { OutcomeParts } from '../../run/run-outcomes.js';
import type { BatchAccounts } from './batch-accounts.js';
import type { RunDirectory, StoredBatch } from './run-directory.js';
import type { SlurmApi } from './slurm-api.js';

/** What a Slurm executor works with. */
export interface SlurmParts extends OutcomeParts {
  /** As it holds for the sites of the executor. */
  config: Config;
  /** The cluster of one site; undefined for that of the settings. */
  connection?: SiteConnection | undefined;
  logger: Logger;
}

/** The parts with what `open()` has made. */
export interface OpenSlurmParts extends SlurmParts {
  executorId: string;
  api: SlurmApi;
  directory: RunDirectory;
  accounts: BatchAccounts;
}

/** So many accounts may be refused an answer before it is taken that Slurm is away. */
export const MAX_FAILED = 3;

/** What Slurm is asked about a batch, it is asked in the name of the account under which the batch runs. */
export function apiOf({ api }: OpenSlurmParts, { account }: StoredBatch): SlurmApi {
  return account === undefined ? api : api.as(account.name);
}

/** Orders what has an account so that those come last whose account got no answer the last time. */
export function byAnswers<T>(items: Iterable<T>, apiFor: (item: T) => SlurmApi): T[] {
  const all = [...items];
  const isFailing = (item: T): boolean => apiFor(item).isFailing;
  return [...all.filter((item) => !isFailing(item)), ...all.filter(isFailing)];
}

/** Runs the work for all items, some at a time; the work must not throw. */
export async function forEachOf<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  await pLimit(atOnce).map(items, work);
}
