import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, Repository } from 'typeorm';
import { ChangeFeed, Database, lockInTransaction, type Transaction } from '#src/database/index.js';
import { SigningKeyEntity } from './signing-key.entity.js';
import type { StoredKey } from './stored-key.js';

/** Channel of the change feed: the set of signing keys has changed. */
export const SIGNING_KEYS_CHANNEL = 'signing_keys';

const OLDEST_FIRST = { order: { createdAt: 'ASC' } } as const;

/** Queries of the signing keys. */
@Injectable()
export class SigningKeysRepository {
  constructor(
    private readonly database: Database,
    @InjectRepository(SigningKeyEntity) private readonly keys: Repository<StoredKey>,
  ) {}

  /** Does the work alone of all instances, and tells each of them when it has changed the keys. */
  async change(work: (transaction: Transaction) => Promise<void>): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await lockInTransaction(transaction, 'signingKeys');
      const before = await this.allIn(transaction);
      await work(transaction);
      const after = await this.allIn(transaction);
      if (JSON.stringify(before) === JSON.stringify(after)) return;
      await transaction.execute(ChangeFeed.notification(SIGNING_KEYS_CHANNEL));
    });
  }

  /** All keys, oldest first. */
  async all(): Promise<StoredKey[]> {
    return this.keys.find(OLDEST_FIRST);
  }

  /** All keys as the transaction sees them, oldest first. */
  async allIn(transaction: Transaction): Promise<StoredKey[]> {
    return this.within(transaction).find(OLDEST_FIRST);
  }

  async add(transaction: Transaction, key: StoredKey): Promise<void> {
    await this.within(transaction).insert(key);
  }

  /** The published key starts to sign at the given moment. */
  async activate(transaction: Transaction, kid: string, from: Date): Promise<void> {
    await this.within(transaction).update({ kid, activeFrom: IsNull() }, { activeFrom: from });
  }

  /** Replaces the sealed form of a private key. */
  async reseal(transaction: Transaction, kid: string, privateKey: string): Promise<void> {
    await this.within(transaction).update({ kid }, { privateKey });
  }

  /** Notes that keys in use may sign tokens of this life. */
  async noteTtl(transaction: Transaction, longestTtlSeconds: number): Promise<void> {
    const shorter = { longestTtlSeconds: LessThan(longestTtlSeconds) };
    await this.within(transaction).update(shorter, { longestTtlSeconds });
  }

  async remove(transaction: Transaction, kid: string): Promise<void> {
    await this.within(transaction).delete({ kid });
  }

  private within(transaction: Transaction): Repository<StoredKey> {
    return transaction.manager.getRepository<StoredKey>(this.keys.target);
  }
}
