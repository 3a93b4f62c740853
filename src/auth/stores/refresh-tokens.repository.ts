import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { columnsOf, Database, ExpiredRows, type Transaction } from '#src/platform/index.js';
import { ConsentEntity } from './consent.entity.js';
import { RefreshTokenEntity } from './refresh-token.entity.js';

const CONSENT_COLUMNS = columnsOf(ConsentEntity, { alias: 'g' });

/** What the first use of a token writes. */
export interface Rotation {
  /** Hash of the token. */
  hash: string;
  consentId: string;
  /** Hash of its successor, and the seed from which it is made. */
  successorHash: string;
  successorSeed: string;
  now: Date;
  /** When the successor ends. */
  expiresAt: Date;
  /** When the last token that follows from the consent is dead. */
  consentExpiresAt: Date;
}

/** Queries of refresh tokens. */
@Injectable()
export class RefreshTokensRepository implements OnApplicationBootstrap {
  @Inject() private readonly expiredRows!: ExpiredRows;

  constructor(
    private readonly database: Database,
    @InjectRepository(RefreshTokenEntity) private readonly tokens: Repository<RefreshTokenEntity>,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(RefreshTokenEntity);
  }

  async add(
    transaction: Transaction,
    token: Pick<RefreshTokenEntity, 'hash' | 'consentId' | 'createdAt' | 'expiresAt'>,
  ): Promise<void> {
    await transaction.manager.insert(RefreshTokenEntity, token);
  }

  async find(hash: string): Promise<RefreshTokenEntity | undefined> {
    return (await this.tokens.findOneBy({ hash })) ?? undefined;
  }

  /** The consent of a token, whatever either is worth. */
  async consentOf(hash: string): Promise<ConsentEntity | undefined> {
    const [consent] = await this.database.query<ConsentEntity>({
      name: 'auth-refresh-consent',
      text: `select ${CONSENT_COLUMNS} from refresh_token t
        join authorization_grant g on g.id = t.grant_id where t.token_hash = $1`,
      values: [hash],
    });
    return consent;
  }

  /**
   * Uses a live token up and adds its successor, in one statement; false when it was used before, has ended, or its consent
   * was revoked. Of parallel calls exactly one answers true.
   */
  async rotate(rotation: Rotation): Promise<boolean> {
    const { hash, consentId, successorHash, successorSeed } = rotation;
    const [row] = await this.database.query<{ rotated: boolean }>({
      name: 'auth-refresh-rotate',
      text: `with used as (
          update refresh_token t set used_at = $5, successor_seed = $4
          from authorization_grant g
          where t.token_hash = $1 and t.grant_id = $2 and t.used_at is null and t.expires_at > $5
            and g.id = t.grant_id and g.revoked_at is null
          returning t.grant_id),
        added as (
          insert into refresh_token (token_hash, grant_id, created_at, expires_at)
          select $3, grant_id, $5, $6 from used),
        touched as (
          update authorization_grant set used_at = $5, expires_at = greatest(expires_at, $7)
          where id in (select grant_id from used))
        select exists (select from used) as rotated`,
      values: [
        ...[hash, consentId, successorHash, successorSeed],
        ...[rotation.now, rotation.expiresAt, rotation.consentExpiresAt],
      ],
    });
    return row?.rotated ?? false;
  }

  /** The token, locked until the transaction ends: parallel renewals come one after the other. */
  async lock(transaction: Transaction, hash: string): Promise<RefreshTokenEntity | undefined> {
    const lock = { mode: 'pessimistic_write' } as const;
    const found = await transaction.manager.findOne(RefreshTokenEntity, { where: { hash }, lock });
    return found ?? undefined;
  }
}
