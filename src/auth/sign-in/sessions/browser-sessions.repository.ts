import { Injectable } from '@nestjs/common';
import { Database } from '#src/platform/index.js';
import type { BrowserSession } from './browser-session.js';

/** Queries of browser sessions. */
@Injectable()
export class BrowserSessionsRepository {
  constructor(private readonly database: Database) {}

  async add(session: BrowserSession): Promise<void> {
    const { idHash, user, method, csrfToken, createdAt, expiresAt } = session;
    await this.database.execute({
      name: 'auth-session-add',
      text: `insert into browser_session
          (id_hash, user_name, method, csrf_token, created_at, expires_at)
        values ($1, $2, $3, $4, $5, $6)`,
      values: [idHash, user, method, csrfToken, createdAt, expiresAt],
    });
  }

  /** The session, unless it has ended. */
  async find(idHash: string, now: Date): Promise<BrowserSession | undefined> {
    const [row] = await this.database.query<BrowserSession>({
      name: 'auth-session-find',
      text: `select id_hash as "idHash", user_name as "user", method, csrf_token as "csrfToken",
          created_at as "createdAt", expires_at as "expiresAt"
        from browser_session where id_hash = $1 and expires_at > $2`,
      values: [idHash, now],
    });
    return row;
  }

  async remove(idHash: string): Promise<void> {
    await this.database.execute({
      name: 'auth-session-remove',
      text: 'delete from browser_session where id_hash = $1',
      values: [idHash],
    });
  }

  async clean(now: Date): Promise<number> {
    return this.database.execute({
      text: 'delete from browser_session where expires_at < $1',
      values: [now],
    });
  }
}
