import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Not, Repository } from 'typeorm';
import { sha256, type Clock, CLOCK } from '#src/kernel/index.js';
import { ExpiredRows } from '#src/runtime/index.js';
import type { LoginSessionRecord, LoginSessionStore } from '../flows/login-sessions.js';
import { LoginSessionEntity } from './login-session.entity.js';

/** To which browser a login belongs, and where it goes on afterwards. */
export interface LoginBinding {
  browser: string;
  returnTo: string;
}

/** Logins under way, in the database: begun on one instance, completed once on any. */
@Injectable()
export class LoginSessionsRepository implements LoginSessionStore, OnApplicationBootstrap {
  constructor(
    @InjectRepository(LoginSessionEntity) private readonly logins: Repository<LoginSessionEntity>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly expiredRows: ExpiredRows,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(LoginSessionEntity);
  }

  async put(state: string, record: LoginSessionRecord, ttlSeconds: number): Promise<void> {
    const expiresAt = new Date(this.clock.now() + ttlSeconds * 1000);
    await this.logins.insert({ stateHash: sha256(state), record, expiresAt });
  }

  /** In one statement: of two that come with one state one gets it. */
  async take(state: string): Promise<LoginSessionRecord | undefined> {
    const taken = await this.logins
      .createQueryBuilder()
      .delete()
      .where({ stateHash: sha256(state) })
      .returning(['record', 'expiresAt'])
      .execute();
    const [row] = taken.raw as { record: LoginSessionRecord; expires_at: Date }[];
    return row && row.expires_at.getTime() > this.clock.now() ? row.record : undefined;
  }

  /** Ties a login to the browser that began it. */
  async bind(state: string, binding: LoginBinding): Promise<void> {
    await this.logins.update({ stateHash: sha256(state) }, { ...binding });
  }

  /** The binding of a login under way. */
  async bindingOf(state: string): Promise<LoginBinding | undefined> {
    const login = await this.logins.findOne({
      where: { stateHash: sha256(state), browser: Not(IsNull()) },
      select: { browser: true, returnTo: true },
    });
    return login ? { browser: login.browser ?? '', returnTo: login.returnTo ?? '' } : undefined;
  }
}
