import { Injectable } from '@nestjs/common';
import { ChangeFeed, Database, type Transaction } from '#src/platform/index.js';
import { SigningKeyEntity } from './signing-key.entity.js';

/** Channel of the change feed: the set of signing keys has changed. */
export const SIGNING_KEYS_CHANNEL = 'signing_keys';

const COLUMNS = `kid, algorithm, public_jwk as "publicJwk", private_key as "privateKey",
  created_at as "createdAt", active_from as "activeFrom", longest_ttl as "longestTtlSeconds"`;

/** Queries of the signing keys; changes are made by one instance at a time, under the lock `signingKeys`. */
@Injectable()
export class SigningKeysRepository {
  constructor(private readonly database: Database) {}

  /** All keys, oldest first. */
  async all(): Promise<SigningKeyEntity[]> {
    return this.database.manager.find(SigningKeyEntity, { order: { createdAt: 'ASC' } });
  }

  /** All keys as the transaction sees them, oldest first. */
  async allIn(transaction: Transaction): Promise<SigningKeyEntity[]> {
    return transaction.query<SigningKeyEntity>({
      text: `select ${COLUMNS} from signing_key order by created_at`,
    });
  }

  async add(transaction: Transaction, key: SigningKeyEntity): Promise<void> {
    await transaction.execute({
      text: `insert into signing_key
          (kid, algorithm, public_jwk, private_key, created_at, active_from, longest_ttl)
        values ($1, $2, $3, $4, $5, $6, $7)`,
      values: [
        key.kid,
        key.algorithm,
        JSON.stringify(key.publicJwk),
        key.privateKey,
        key.createdAt,
        key.activeFrom,
        key.longestTtlSeconds,
      ],
    });
  }

  /** The published key starts to sign at the given moment. */
  async activate(transaction: Transaction, kid: string, from: Date): Promise<void> {
    await transaction.execute({
      text: 'update signing_key set active_from = $2 where kid = $1 and active_from is null',
      values: [kid, from],
    });
  }

  /** Replaces the sealed form of a private key. */
  async reseal(transaction: Transaction, kid: string, privateKey: string): Promise<void> {
    await transaction.execute({
      text: 'update signing_key set private_key = $2 where kid = $1',
      values: [kid, privateKey],
    });
  }

  /** Notes that keys in use may sign tokens of this life. */
  async noteTtl(transaction: Transaction, ttlSeconds: number): Promise<void> {
    await transaction.execute({
      text: 'update signing_key set longest_ttl = $1 where longest_ttl < $1',
      values: [ttlSeconds],
    });
  }

  async remove(transaction: Transaction, kid: string): Promise<void> {
    await transaction.execute({
      text: 'delete from signing_key where kid = $1',
      values: [kid],
    });
  }

  /** Tells every instance when the transaction commits. */
  async announce(transaction: Transaction): Promise<void> {
    await transaction.execute(ChangeFeed.notification(SIGNING_KEYS_CHANNEL));
  }
}
