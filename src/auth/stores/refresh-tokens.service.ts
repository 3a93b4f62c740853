import { Inject, Injectable } from '@nestjs/common';
import { randomToken, sha256, type Clock, CLOCK } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import { ConsentsRepository } from './consents.repository.js';
import type { ConsentEntity } from './consent.entity.js';
import { ConsentsService } from './consents.service.js';
import { judge, successorOf } from './refresh-rotation.js';
import { RefreshTokensRepository } from './refresh-tokens.repository.js';
import type { RefreshTokenEntity } from './refresh-token.entity.js';
import { invalidGrant } from '../protocol/oauth-errors.js';

const WHAT = 'refresh token';

/** Outcome of looking at a refresh token under its lock. */
type Renewal = { successor: string } | { replayed: true } | { refused: true };

/** Refresh tokens: families that rotate, survive an honest retry and die by a replay (RFC 9700 §4.14). */
@Injectable()
export class RefreshTokensService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly refreshTokens: RefreshTokensRepository,
    private readonly consents: ConsentsRepository,
    private readonly consentsService: ConsentsService,
    private readonly database: Database,
    private readonly audit: Audit,
  ) {}

  /** The first refresh token of a consent; with a DPoP key the family is bound to it. */
  async start(
    transaction: Transaction,
    consentId: string,
    dpopKey: string | null = null,
  ): Promise<string> {
    if (dpopKey !== null) await this.consents.bind(transaction, consentId, dpopKey);
    const token = randomToken();
    await this.store(transaction, token, consentId);
    return token;
  }

  /**
   * The live consent of a token of this application, for whoever proves the key to which it is bound, if it is. Throws 400
   * `invalid_grant`.
   */
  async consentOf(
    token: string,
    clientId: string,
    dpopKey: string | undefined,
  ): Promise<ConsentEntity> {
    const consent = await this.refreshTokens.consentOf(sha256(token));
    if (!consent || consent.clientId !== clientId || consent.revokedAt) throw invalidGrant(WHAT);
    if (consent.dpopKey !== null && consent.dpopKey !== dpopKey) throw invalidGrant(WHAT);
    return consent;
  }

  /** The consent of a token, live or not, and whether the token itself is; undefined for an unknown one. */
  async find(token: string): Promise<{ consent: ConsentEntity; isLive: boolean } | undefined> {
    const stored = await this.refreshTokens.find(sha256(token));
    const consent = stored && (await this.consents.find(stored.consentId));
    if (!stored || !consent) return undefined;
    const isLive =
      !consent.revokedAt && !stored.usedAt && stored.expiresAt.getTime() > this.clock.now();
    return { consent, isLive };
  }

  /**
   * Uses a token up and answers its successor. A token that was used within the grace gives the same successor
   * again, so that parallel renewals never log anybody out; after it the whole family is revoked. Throws 400
   * `invalid_grant`.
   */
  async rotate(token: string, consent: ConsentEntity): Promise<string> {
    const seed = randomToken();
    const successor = successorOf(token, seed);
    const now = this.clock.now();
    const isFirst = await this.refreshTokens.rotate({
      hash: sha256(token),
      consentId: consent.id,
      successorHash: sha256(successor),
      successorSeed: seed,
      now: new Date(now),
      expiresAt: this.endFrom(now),
      consentExpiresAt: this.consentsService.endOfTokens(now),
    });
    if (isFirst) return successor;
    const outcome = await this.database.transaction((transaction) =>
      this.showAgain(transaction, token, consent.id),
    );
    if ('successor' in outcome) return outcome.successor;
    if ('replayed' in outcome) {
      await this.consentsService.revoke(consent.id);
      const { user, group, setup, clientId: client } = consent;
      const actor = { user, group, setup, client };
      this.audit.done('refresh.reused', { consent: consent.id }, { actor });
    }
    throw invalidGrant(WHAT);
  }

  /**
   * Keeps a token in use: the refresh tokens of `fapi2` do not rotate (FAPI 2.0 Security Profile 5.3.2.1), they are worth
   * nothing without the keys of the application. Throws 400 `invalid_grant`.
   */
  async keep(token: string, consent: ConsentEntity): Promise<string> {
    const isKept = await this.database.transaction(async (transaction) => {
      const stored = await this.refreshTokens.lock(transaction, sha256(token));
      const now = await this.consents.find(consent.id, transaction);
      const isLive =
        stored &&
        !stored.usedAt &&
        now &&
        !now.revokedAt &&
        stored.expiresAt.getTime() > this.clock.now();
      if (isLive) await this.consentsService.touch(transaction, consent.id);
      return isLive;
    });
    if (!isKept) throw invalidGrant(WHAT);
    return token;
  }

  /** A token that is not used for the first time. */
  private async showAgain(
    transaction: Transaction,
    token: string,
    consentId: string,
  ): Promise<Renewal> {
    const stored = await this.refreshTokens.lock(transaction, sha256(token));
    const consent = await this.consents.find(consentId, transaction);
    const times = { now: this.clock.now(), graceSeconds: this.config.refreshGrace };
    const showing = judge(stored, consent, times);
    if (showing === 'replayed') return { replayed: true };
    return stored && showing === 'again'
      ? this.repeat(transaction, token, stored)
      : { refused: true };
  }

  private async repeat(
    transaction: Transaction,
    token: string,
    stored: RefreshTokenEntity,
  ): Promise<Renewal> {
    const successor = successorOf(token, stored.successorSeed ?? '');
    const next = await this.refreshTokens.lock(transaction, sha256(successor));
    return !next || next.usedAt ? { refused: true } : { successor };
  }

  private async store(transaction: Transaction, token: string, consentId: string): Promise<void> {
    const now = this.clock.now();
    await this.refreshTokens.add(transaction, {
      hash: sha256(token),
      consentId,
      createdAt: new Date(now),
      expiresAt: this.endFrom(now),
    });
  }

  private endFrom(now: number): Date {
    return new Date(now + this.config.refreshTokenTtl * 1000);
  }
}
