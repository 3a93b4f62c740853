import { Injectable } from '@nestjs/common';
import { Database, type Queryable } from '#src/platform/index.js';

/** A refresh token as it is stored: its hash, never itself. */
export interface StoredRefreshToken {
  hash: string;
  consentId: string;
  expiresAt: Date;
  usedAt: Date | null;
  /** With the used token itself it gives the successor again; alone it is worth nothing. */
  successorSeed: string | null;
}

const COLUMNS = `token_hash as "hash", grant_id as "consentId", expires_at as "expiresAt",
  used_at as "usedAt", successor_seed as "successorSeed"`;

/** Queries of refresh tokens. */
@Injectable()
export class RefreshTokensRepository {
  constructor(private readonly database: Database) {}

  async add(
    queryable: Queryable,
    token: { hash: string; consentId: string; createdAt: Date; expiresAt: Date },
  ): Promise<void> {
    await queryable.execute({
      name: 'auth-refresh-add',
      text: `insert into refresh_token (token_hash, grant_id, created_at, expires_at)
        values ($1, $2, $3, $4)`,
      values: [token.hash, token.consentId, token.createdAt, token.expiresAt],
    });
  }

  async find(hash: string): Promise<StoredRefreshToken | undefined> {
    const [row] = await this.database.query<StoredRefreshToken>({
      name: 'auth-refresh-find',
      text: `select ${COLUMNS} from refresh_token where token_hash = $1`,
      values: [hash],
    });
    return row;
  }

  /** The token, locked until the transaction ends: parallel renewals come one after the other. */
  async lock(queryable: Queryable, hash: string): Promise<StoredRefreshToken | undefined> {
    const [row] = await queryable.query<StoredRefreshToken>({
      name: 'auth-refresh-lock',
      text: `select ${COLUMNS} from refresh_token where token_hash = $1 for update`,
      values: [hash],
    });
    return row;
  }

  async markUsed(
    queryable: Queryable,
    hash: string,
    use: { at: Date; successorSeed: string },
  ): Promise<void> {
    await queryable.execute({
      name: 'auth-refresh-used',
      text: 'update refresh_token set used_at = $2, successor_seed = $3 where token_hash = $1',
      values: [hash, use.at, use.successorSeed],
    });
  }

  async clean(now: Date): Promise<number> {
    return this.database.execute({
      text: 'delete from refresh_token where expires_at < $1',
      values: [now],
    });
  }
}
