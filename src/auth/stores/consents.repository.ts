import { Injectable } from '@nestjs/common';
import { Database, type Queryable } from '#src/platform/index.js';

/** What a user has allowed an application to do, once; its id is the family of the tokens that follow from it. */
export interface Consent {
  id: string;
  user: string;
  clientId: string;
  group: string;
  setup: string;
  /** Words separated by blanks. */
  scope: string;
  createdAt: Date;
  usedAt: Date;
  /** When the last token that may follow from it is dead. */
  expiresAt: Date;
  revokedAt: Date | null;
}

const COLUMNS = `id, user_name as "user", client_id as "clientId", group_name as "group", setup, scope,
  created_at as "createdAt", used_at as "usedAt", expires_at as "expiresAt", revoked_at as "revokedAt"`;

/** Queries of consents (table authorization_grant). */
@Injectable()
export class ConsentsRepository {
  constructor(private readonly database: Database) {}

  async add(consent: Consent, queryable: Queryable = this.database): Promise<void> {
    await queryable.execute({
      name: 'auth-consent-add',
      text: `insert into authorization_grant
          (id, user_name, client_id, group_name, setup, scope, created_at, used_at, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      values: [
        consent.id,
        consent.user,
        consent.clientId,
        consent.group,
        consent.setup,
        consent.scope,
        consent.createdAt,
        consent.usedAt,
        consent.expiresAt,
      ],
    });
  }

  async find(id: string, queryable: Queryable = this.database): Promise<Consent | undefined> {
    const [row] = await queryable.query<Consent>({
      name: 'auth-consent-find',
      text: `select ${COLUMNS} from authorization_grant where id = $1`,
      values: [id],
    });
    return row;
  }

  /** Live consents of a user, latest first. */
  async ofUser(user: string, now: Date): Promise<Consent[]> {
    return this.database.query<Consent>({
      name: 'auth-consents-of-user',
      text: `select ${COLUMNS} from authorization_grant
        where user_name = $1 and revoked_at is null and expires_at > $2
        order by used_at desc`,
      values: [user, now],
    });
  }

  /** Notes that tokens were given now, the last of which dies at `expiresAt`. */
  async touch(
    queryable: Queryable,
    id: string,
    times: { now: Date; expiresAt: Date },
  ): Promise<void> {
    await queryable.execute({
      name: 'auth-consent-touch',
      text: `update authorization_grant
        set used_at = $2, expires_at = greatest(expires_at, $3) where id = $1`,
      values: [id, times.now, times.expiresAt],
    });
  }

  /** Revokes those that are live; the ids of those that were. */
  async revoke(
    queryable: Queryable,
    which: { id?: string; user?: string; clientId?: string },
    now: Date,
  ): Promise<string[]> {
    const rows = await queryable.query<{ id: string }>({
      name: 'auth-consents-revoke',
      text: `update authorization_grant set revoked_at = $4
        where revoked_at is null and ($1::text is null or id = $1)
          and ($2::text is null or user_name = $2) and ($3::text is null or client_id = $3)
        returning id`,
      values: [which.id ?? null, which.user ?? null, which.clientId ?? null, now],
    });
    return rows.map(({ id }) => id);
  }

  /** Forgets consents of which every token is dead, with their codes and refresh tokens. */
  async clean(now: Date): Promise<number> {
    return this.database.execute({
      text: 'delete from authorization_grant where expires_at < $1',
      values: [now],
    });
  }
}
