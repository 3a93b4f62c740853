import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, Repository } from 'typeorm';
import { ChangeFeed, type Transaction } from '#src/database/index.js';
import { SigningKeyEntity } from './signing-key.entity.js';
import type { StoredKey } from './stored-key.js';

/** Channel of the change feed: the set of signing keys has changed. */
export const SIGNING_KEYS_CHANNEL = 'signing_keys';

const OLDEST_FIRST = { order: { createdAt: 'ASC' } } as const;

/** Queries of the signing keys; changes are made by one instance at a time, under the lock `signingKeys`. */
@Injectable()
export class SigningKeysRepository {
  constructor(@InjectRepository(SigningKeyEntity) private readonly keys: Repository<StoredKey>) {}

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

  /** Tells every instance when the transaction commits. */
  async announce(transaction: Transaction): Promise<void> {
    await transaction.execute(ChangeFeed.notification(SIGNING_KEYS_CHANNEL));
  }

  private within(transaction: Transaction): Repository<StoredKey> {
    return transaction.manager.getRepository<StoredKey>(this.keys.target);
  }
}
