import type { Database, Transaction } from './database.js';

/** Names of the advisory locks of the service; the number is the lock's second key. */
export const ADVISORY_LOCKS = {
  migrations: 1,
  registry: 2,
  signingKeys: 3,
  cleaning: 4,
  idProviders: 5,
  catalogueTotals: 6,
  catalogueMoves: 7,
  demoCatalogue: 8,
  reaper: 9,
  slurm: 10,
} as const;

/** Name of an advisory lock. */
export type AdvisoryLock = keyof typeof ADVISORY_LOCKS;

/** First key of every lock of the service, so that other users of the database do not meet it. */
export const LOCK_SPACE = 0x67726964;

/** Waits for the lock and holds it until the transaction ends. */
export async function lockInTransaction(
  transaction: Transaction,
  lock: AdvisoryLock,
): Promise<void> {
  await transaction.query({
    name: 'platform-lock',
    text: 'select pg_advisory_xact_lock($1, $2)',
    values: [LOCK_SPACE, ADVISORY_LOCKS[lock]],
  });
}

/** Runs the work on one instance at a time: undefined, without running it, when another instance holds the lock. */
export async function whenAlone<T>(
  database: Database,
  lock: AdvisoryLock,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T | undefined> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ got: boolean }>({
      name: 'platform-try-lock',
      text: 'select pg_try_advisory_xact_lock($1, $2) as got',
      values: [LOCK_SPACE, ADVISORY_LOCKS[lock]],
    });
    return row?.got ? work(transaction) : undefined;
  });
}
