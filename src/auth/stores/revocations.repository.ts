import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database, type Queryable } from '#src/database/index.js';
import { ExpiredRows } from '#src/runtime/index.js';
import { RevokedTokenEntity } from './revoked-token.entity.js';

/** Channel of the change feed; the payload is the revoked id. */
export const REVOCATIONS_CHANNEL = 'revocations';

const SLACK_SECONDS = 120;
const KEEP_LONGER = `on conflict (id) do update
            set expires_at = greatest(revoked_token.expires_at, excluded.expires_at)`;

/** Revoked tokens (by `jti`) and revoked consents (by id), each until the last token it concerns is dead. */
@Injectable()
export class RevocationsRepository implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    @InjectRepository(RevokedTokenEntity) private readonly revoked: Repository<RevokedTokenEntity>,
    private readonly expiredRows: ExpiredRows,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(RevokedTokenEntity);
  }

  /** Revokes and tells every instance. `expiresAt`: when the last token concerned is dead anyway. */
  async add(id: string, expiresAt: Date, queryable: Queryable = this.database): Promise<void> {
    await queryable.execute({
      name: 'auth-revoke',
      text: `with revoked as (
          insert into revoked_token (id, expires_at) values ($1, $2)
          ${KEEP_LONGER}
          returning id)
        select pg_notify('${REVOCATIONS_CHANNEL}', id) from revoked`,
      values: [id, expiresAt],
    });
  }

  /**
   * Revokes all tokens that come from an id: until the last of them is dead, also one of a time when tokens lived longer
   * than `ttlSeconds` from now.
   */
  async addOrigin(
    id: string,
    { now, ttlSeconds }: { now: number; ttlSeconds: number },
    queryable: Queryable,
  ): Promise<void> {
    await queryable.execute({
      name: 'auth-revoke-origin',
      text: `with revoked as (
          insert into revoked_token (id, expires_at)
          select $1, $2::timestamptz + make_interval(secs => greatest($3, max(longest_ttl)) + ${SLACK_SECONDS})
            from signing_key
          ${KEEP_LONGER}
          returning id)
        select pg_notify('${REVOCATIONS_CHANNEL}', id) from revoked`,
      values: [id, new Date(now), ttlSeconds],
    });
  }

  /** True when one of the ids is revoked. */
  async isAnyRevoked(ids: readonly string[]): Promise<boolean> {
    const [row] = await this.database.query<{ revoked: boolean }>({
      name: 'auth-is-revoked',
      text: 'select exists (select from revoked_token where id = any($1::text[])) as revoked',
      values: [ids],
    });
    return row?.revoked ?? false;
  }
}
