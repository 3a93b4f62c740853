import { Problem } from '#src/kernel/index.js';
import type { Database, Transaction } from './database.js';
import { ADVISORY_LOCKS, LOCK_SPACES, type AdvisoryLock } from './lock-names.js';

/** Waits for the lock and holds it until the transaction ends. */
export async function lockInTransaction(
  transaction: Transaction,
  lock: AdvisoryLock,
): Promise<void> {
  await transaction.query({
    name: 'platform-lock',
    text: 'select pg_advisory_xact_lock($1, $2)',
    values: [LOCK_SPACES.named, ADVISORY_LOCKS[lock]],
  });
}

/** Runs the work on one instance at a time: undefined, without running it, when another instance holds the lock. */
export async function withAdvisoryLock<T>(
  database: Database,
  lock: AdvisoryLock,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T | undefined> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ got: boolean }>({
      name: 'platform-try-lock',
      text: 'select pg_try_advisory_xact_lock($1, $2) as got',
      values: [LOCK_SPACES.named, ADVISORY_LOCKS[lock]],
    });
    return row?.got ? work(transaction) : undefined;
  });
}

/**
 * Runs the work for one caller of all instances at a time per key; the others wait, no longer than a statement may take
 * (then 503). A session lock: no transaction is open while the work talks to strangers. It takes a connection
 * for as long as the work lasts, so the caller has to bound how many run at once.
 */
export async function withKeyedLock<T>(
  database: Database,
  key: string,
  work: () => Promise<T>,
): Promise<T> {
  const client = await database.session();
  let broken: Error | undefined;
  const onError = (error: Error): void => void (broken = error);
  client.on('error', onError);
  try {
    await client.query('select pg_advisory_lock($1, hashtext($2))', [LOCK_SPACES.keyed, key]);
  } catch (cause) {
    client.release(cause as Error);
    throw Problem.unavailable('Another request works on the same; try again', { cause });
  }
  try {
    return await work();
  } finally {
    // Unlocking may fail with the connection; the lock is gone with it as well.
    await client
      .query('select pg_advisory_unlock($1, hashtext($2))', [LOCK_SPACES.keyed, key])
      .catch(onError);
    if (broken === undefined) client.off('error', onError);
    client.release(broken);
  }
}
