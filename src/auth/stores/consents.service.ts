import { Inject, Injectable } from '@nestjs/common';
import { randomToken, type Clock } from '#src/kernel/index.js';
import { CLOCK, CONFIG, Database, type Config, type Transaction } from '#src/platform/index.js';
import type { Scope } from '../protocol/scopes.js';
import { RevocationsRepository } from './revocations.repository.js';
import { ConsentsRepository } from './consents.repository.js';
import type { ConsentEntity } from './consent.entity.js';

const SLACK_SECONDS = 120;

/** What a user allows. */
export interface ConsentInput {
  user: string;
  clientId: string;
  group: string;
  setup: string;
  scopes: readonly Scope[];
}

/** Consents of users to applications, and their withdrawal. */
@Injectable()
export class ConsentsService {
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(CONFIG) private readonly config!: Config;

  constructor(
    private readonly consents: ConsentsRepository,
    private readonly revocations: RevocationsRepository,
    private readonly database: Database,
  ) {}

  /** Records a consent that waits `waitSeconds` for its first token. */
  async record(
    input: ConsentInput,
    waitSeconds: number,
    transaction: Transaction,
  ): Promise<ConsentEntity> {
    const now = new Date(this.clock.now());
    const consent: ConsentEntity = {
      id: randomToken(16),
      user: input.user,
      clientId: input.clientId,
      group: input.group,
      setup: input.setup,
      scope: input.scopes.join(' '),
      createdAt: now,
      usedAt: now,
      expiresAt: new Date(now.getTime() + (waitSeconds + SLACK_SECONDS) * 1000),
      revokedAt: null,
    };
    await this.consents.add(transaction, consent);
    return consent;
  }

  /** Notes that tokens of the consent were given now. */
  async touch(transaction: Transaction, id: string): Promise<void> {
    const { accessTokenTtl, refreshTokenTtl } = this.config;
    const now = this.clock.now();
    const longest = Math.max(accessTokenTtl, refreshTokenTtl) + SLACK_SECONDS;
    await this.consents.touch(transaction, id, {
      now: new Date(now),
      expiresAt: new Date(now + longest * 1000),
    });
  }

  /** Revokes one consent with all its tokens, on every instance. */
  async revoke(id: string): Promise<void> {
    await this.revokeAll({ id });
  }

  /** Withdraws everything a user has allowed an application; false when there was nothing. */
  async withdraw(user: string, clientId: string): Promise<boolean> {
    return (await this.revokeAll({ user, clientId })) > 0;
  }

  /** Live consents of a user, latest first. */
  async ofUser(user: string): Promise<ConsentEntity[]> {
    return this.consents.ofUser(user, new Date(this.clock.now()));
  }

  private async revokeAll(which: {
    id?: string;
    user?: string;
    clientId?: string;
  }): Promise<number> {
    const now = this.clock.now();
    return this.database.transaction(async (transaction) => {
      const ids = await this.consents.revoke(transaction, which, new Date(now));
      const until = new Date(now + (this.config.accessTokenTtl + SLACK_SECONDS) * 1000);
      for (const id of ids) await this.revocations.add(id, until, transaction);
      return ids.length;
    });
  }
}
