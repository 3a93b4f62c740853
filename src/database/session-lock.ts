import type { PoolClient } from 'pg';
import { ADVISORY_LOCKS, LOCK_SPACES, type AdvisoryLock } from './lock-names.js';
import type { Database } from './database.js';

/**
 * An advisory lock that is held for as long as the instance lives: whoever holds it leads. It belongs to a connection,
 * so when the instance or its connection dies another instance gets it. A leader may not notice for a
 * moment that it is none any more; what must not happen twice has to be guarded otherwise.
 */
export class SessionLock {
  private client: PoolClient | undefined;

  constructor(
    private readonly database: Database,
    private readonly lock: AdvisoryLock,
  ) {}

  /** True while the lock is ours, as far as we know. */
  get isHeld(): boolean {
    return this.client !== undefined;
  }

  /** Takes the lock when nobody else has it; answers whether it is ours. */
  async claim(): Promise<boolean> {
    if (this.client !== undefined) return true;
    const client = await this.database.session();
    try {
      const { rows } = await client.query<{ got: boolean }>(
        'select pg_try_advisory_lock($1, $2) as got',
        [LOCK_SPACES.named, ADVISORY_LOCKS[this.lock]],
      );
      if (rows[0]?.got !== true) {
        client.release();
        return false;
      }
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
    this.client = client;
    client.once('error', () => this.drop(client));
    client.once('end', () => this.drop(client));
    return true;
  }

  /** Lets others have it. */
  release(): void {
    if (this.client !== undefined) this.drop(this.client);
  }

  /** The lock goes with its connection. */
  private drop(client: PoolClient): void {
    if (this.client !== client) return;
    this.client = undefined;
    client.on('error', () => undefined);
    client.release(true);
  }
}
