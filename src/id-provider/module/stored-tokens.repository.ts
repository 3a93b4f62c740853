import { Injectable } from '@nestjs/common';
import { Database } from '#src/platform/index.js';

/** Queries of stored tokens: sealed texts by id. */
@Injectable()
export class StoredTokensRepository {
  constructor(private readonly database: Database) {}

  async put(row: { id: string; sealed: string; expiresAt: Date }): Promise<void> {
    await this.database.execute({
      name: 'stored-token-put',
      text: `insert into stored_token (id, sealed, expires_at) values ($1, $2, $3)
        on conflict (id) do update set sealed = excluded.sealed, expires_at = excluded.expires_at`,
      values: [row.id, row.sealed, row.expiresAt],
    });
  }

  async find(id: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ sealed: string }>({
      name: 'stored-token-find',
      text: 'select sealed from stored_token where id = $1',
      values: [id],
    });
    return row?.sealed;
  }

  /** Puts the renewed token in the place of the one it was made from; false when that is not there any more. */
  async replace(row: {
    id: string;
    before: string;
    sealed: string;
    expiresAt: Date;
  }): Promise<boolean> {
    const changed = await this.database.execute({
      name: 'stored-token-replace',
      text: `update stored_token set sealed = $3, expires_at = $4 where id = $1 and sealed = $2`,
      values: [row.id, row.before, row.sealed, row.expiresAt],
    });
    return changed === 1;
  }

  /** Removes the token; with `sealed` only when it is still that one. */
  async remove(id: string, sealed?: string): Promise<void> {
    await this.database.execute({
      name: 'stored-token-remove',
      text: 'delete from stored_token where id = $1 and ($2::text is null or sealed = $2)',
      values: [id, sealed ?? null],
    });
  }

  /** Removes tokens that nobody has asked for until their end. */
  async clean(now: Date): Promise<number> {
    return this.database.execute({
      text: 'delete from stored_token where expires_at < $1',
      values: [now],
    });
  }
}
