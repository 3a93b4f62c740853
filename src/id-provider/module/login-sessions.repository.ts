import { Inject, Injectable } from '@nestjs/common';
import { sha256, type Clock } from '#src/kernel/index.js';
import { CLOCK, Database } from '#src/platform/index.js';
import type { LoginSessionRecord, LoginSessionStore } from '../flows/login-sessions.js';

/** To which browser a login belongs, and where it goes on afterwards. */
export interface LoginBinding {
  browser: string;
  returnTo: string;
}

/** Logins under way, in the database: begun on one instance, completed once on any. */
@Injectable()
export class LoginSessionsRepository implements LoginSessionStore {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async put(state: string, record: LoginSessionRecord, ttlSeconds: number): Promise<void> {
    await this.database.execute({
      name: 'login-session-put',
      text: 'insert into login_session (state_hash, record, expires_at) values ($1, $2, $3)',
      values: [
        sha256(state),
        JSON.stringify(record),
        new Date(this.clock.now() + ttlSeconds * 1000),
      ],
    });
  }

  async take(state: string): Promise<LoginSessionRecord | undefined> {
    const [row] = await this.database.query<{ record: LoginSessionRecord; expiresAt: Date }>({
      name: 'login-session-take',
      text: `delete from login_session where state_hash = $1
        returning record, expires_at as "expiresAt"`,
      values: [sha256(state)],
    });
    return row && row.expiresAt.getTime() > this.clock.now() ? row.record : undefined;
  }

  /** Ties a login to the browser that began it. */
  async bind(state: string, binding: LoginBinding): Promise<void> {
    await this.database.execute({
      name: 'login-session-bind',
      text: 'update login_session set browser = $2, return_to = $3 where state_hash = $1',
      values: [sha256(state), binding.browser, binding.returnTo],
    });
  }

  /** The binding of a login under way. */
  async bindingOf(state: string): Promise<LoginBinding | undefined> {
    const [row] = await this.database.query<LoginBinding>({
      name: 'login-session-binding',
      text: `select browser, return_to as "returnTo" from login_session
        where state_hash = $1 and browser is not null`,
      values: [sha256(state)],
    });
    return row;
  }

  /** Removes logins that never came back. */
  async clean(now: Date): Promise<number> {
    return this.database.execute({
      text: 'delete from login_session where expires_at < $1',
      values: [now],
    });
  }
}
