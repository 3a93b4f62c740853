import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { columnsOf, Database, type Statement, type Transaction } from '#src/database/index.js';
import { ExpiredRows } from '#src/runtime/index.js';
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
  /** The consent of a token (its hash), whatever either is worth. */
  readonly consentOf: (hash: string) => Promise<ConsentEntity | undefined>;
  /**
   * Uses a live token up and adds its successor; false when it was used before, has ended, or its consent was revoked. Of
   * parallel calls exactly one answers true. Those that come together are one statement and one commit.
   */
  readonly rotate: (rotation: Rotation) => Promise<boolean>;

  constructor(
    private readonly database: Database,
    @InjectRepository(RefreshTokenEntity) private readonly tokens: Repository<RefreshTokenEntity>,
    private readonly expiredRows: ExpiredRows,
  ) {
    this.consentOf = database.batchedReads((hashes: string[]) => this.consentsOf(hashes));
    this.rotate = database.batchedWrites((rotations: Rotation[]) => this.rotateAll(rotations));
  }

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

  private async consentsOf(hashes: string[]): Promise<Map<string, ConsentEntity>> {
    const rows = await this.database.query<ConsentEntity & { hash: string }>({
      name: 'auth-refresh-consents',
      text: `select ${CONSENT_COLUMNS}, t.token_hash as hash from refresh_token t
        join authorization_grant g on g.id = t.grant_id where t.token_hash = any($1::text[])`,
      values: [hashes],
    });
    return new Map(rows.map(({ hash, ...consent }) => [hash, consent]));
  }

  private async rotateAll(rotations: readonly Rotation[]): Promise<Map<Rotation, boolean>> {
    const rows = await this.database.write<{ n: number | bigint }>(rotationOf(rotations));
    const used = new Set(rows.map(({ n }) => Number(n)));
    return new Map(rotations.map((rotation, index) => [rotation, used.has(index + 1)]));
  }

  /** The token, locked until the transaction ends: parallel renewals come one after the other. */
  async lock(transaction: Transaction, hash: string): Promise<RefreshTokenEntity | undefined> {
    const lock = { mode: 'pessimistic_write' } as const;
    const found = await transaction.manager.findOne(RefreshTokenEntity, { where: { hash }, lock });
    return found ?? undefined;
  }
}

function rotationOf(rotations: readonly Rotation[]): Statement {
  return {
    name: 'auth-refresh-rotate',
    text: ROTATE,
    values: [
      rotations.map(({ hash }) => hash),
      rotations.map(({ consentId }) => consentId),
      rotations.map(({ successorHash }) => successorHash),
      rotations.map(({ successorSeed }) => successorSeed),
      rotations.map(({ now }) => now),
      rotations.map(({ expiresAt }) => expiresAt),
      rotations.map(({ consentExpiresAt }) => consentExpiresAt),
    ],
  };
}

/** Consents are locked in one order, and their tokens below them: whoever rotates several does not wait in a circle. */
const ROTATE = `
  with asked as materialized (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
      with ordinality as x (hash, grant_id, successor, seed, now, expires_at, grant_expires_at, n)
  ), live as materialized (
    select id from authorization_grant where id = any($2::text[]) and revoked_at is null
    order by id for no key update
  ), used as (
    update refresh_token t set used_at = a.now, successor_seed = a.seed from asked a join live l on l.id = a.grant_id
    where t.token_hash = a.hash and t.grant_id = a.grant_id and t.used_at is null and t.expires_at > a.now
    returning a.*
  ), added as (
    insert into refresh_token (token_hash, grant_id, created_at, expires_at)
    select successor, grant_id, now, expires_at from used order by successor
  ), touched as (
    update authorization_grant g set used_at = u.now, expires_at = greatest(g.expires_at, u.grant_expires_at)
    from (select grant_id, max(now) as now, max(grant_expires_at) as grant_expires_at from used group by grant_id) u
    where g.id = u.grant_id
  )
  select n from used`;
