import { Inject, Injectable } from '@nestjs/common';
import { randomToken, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import type { User } from '#src/registry/index.js';
import type { Authentication } from '../protocol/authentication.js';
import { RevocationsRepository } from './revocations.repository.js';
import { ConsentsRepository } from './consents.repository.js';
import type { ConsentEntity } from './consent.entity.js';

const SLACK_SECONDS = 120;

/** What a user allows. */
export interface ConsentInput {
  user: Pick<User, 'name' | 'sub'>;
  clientId: string;
  group: string;
  setup: string;
  scopes: readonly string[];
  /** Services that it was asked for. */
  audience?: readonly string[] | undefined;
  /** How the user had signed in; absent where nobody signed in here. */
  authentication?: Authentication;
}

/** What a user has taken back: everything that an application was allowed. */
export interface Withdrawal {
  user: string;
  clientId: string;
}

/** Ends what an application has set up with its rights. */
export type WithdrawalListener = (
  withdrawal: Withdrawal,
  transaction: Transaction,
) => Promise<void>;

/** Consents of users to applications, and their withdrawal. */
@Injectable()
export class ConsentsService {
  private readonly withdrawalListeners: WithdrawalListener[] = [];

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
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
      user: input.user.name,
      sub: input.user.sub ?? null,
      audience: input.audience ? [...input.audience] : null,
      clientId: input.clientId,
      group: input.group,
      setup: input.setup,
      scope: input.scopes.join(' '),
      dpopKey: null,
      createdAt: now,
      usedAt: now,
      expiresAt: new Date(now.getTime() + (waitSeconds + SLACK_SECONDS) * 1000),
      revokedAt: null,
      authTime: input.authentication?.at ?? null,
      acr: input.authentication?.acr ?? null,
      sid: input.authentication?.sid ?? null,
    };
    await this.consents.add(transaction, consent);
    return consent;
  }

  /** The consent with this id, live or not. */
  async find(id: string, transaction?: Transaction): Promise<ConsentEntity | undefined> {
    return this.consents.find(id, transaction);
  }

  /** Notes that tokens of the consent were given now. */
  async touch(transaction: Transaction, id: string): Promise<void> {
    const now = this.clock.now();
    const times = { now: new Date(now), expiresAt: this.endOfTokens(now) };
    await this.consents.touch(transaction, id, times);
  }

  /** When the last token is dead that follows from tokens given now (ms since 1970). */
  endOfTokens(now: number): Date {
    const { accessTokenTtl, refreshTokenTtl } = this.config;
    return new Date(now + (Math.max(accessTokenTtl, refreshTokenTtl) + SLACK_SECONDS) * 1000);
  }

  /** Revokes one consent with all its tokens, on every instance. */
  async revoke(id: string): Promise<void> {
    await this.revokeAll({ id });
  }

  /** Withdraws everything a user has allowed an application; false when there was nothing. */
  async withdraw(user: string, clientId: string): Promise<boolean> {
    const withdrawal = { user, clientId };
    const revoked = await this.revokeAll(withdrawal, async (transaction) => {
      for (const tell of this.withdrawalListeners) await tell(withdrawal, transaction);
    });
    return revoked > 0;
  }

  /** Has the listener called in the transaction of every withdrawal: it and the withdrawal come about together or not at all. */
  onWithdrawal(listener: WithdrawalListener): void {
    this.withdrawalListeners.push(listener);
  }

  /** Live consents of a user, latest first. */
  async ofUser(user: string): Promise<ConsentEntity[]> {
    return this.consents.ofUser(user, new Date(this.clock.now()));
  }

  /** The last hundred live consents of a user to one application, latest first. */
  async lately(user: string, clientId: string): Promise<ConsentEntity[]> {
    return this.consents.lately(user, clientId, new Date(this.clock.now()));
  }

  private async revokeAll(
    which: { id?: string; user?: string; clientId?: string },
    andThen: (transaction: Transaction) => Promise<void> = () => Promise.resolve(),
  ): Promise<number> {
    const now = this.clock.now();
    return this.database.transaction(async (transaction) => {
      const ids = await this.consents.revoke(transaction, which, new Date(now));
      const { accessTokenTtl: ttlSeconds } = this.config;
      for (const id of ids) await this.revocations.addOrigin(id, { now, ttlSeconds }, transaction);
      await andThen(transaction);
      return ids.length;
    });
  }
}
