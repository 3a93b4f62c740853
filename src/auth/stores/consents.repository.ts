import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, MoreThan, Repository } from 'typeorm';
import type { Transaction } from '#src/database/index.js';
import { ExpiredRows } from '#src/runtime/index.js';
import { ConsentEntity } from './consent.entity.js';

/** Queries of consents. */
@Injectable()
export class ConsentsRepository implements OnApplicationBootstrap {
  constructor(
    @InjectRepository(ConsentEntity) private readonly consents: Repository<ConsentEntity>,
    private readonly expiredRows: ExpiredRows,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(ConsentEntity);
  }

  async add(transaction: Transaction, consent: ConsentEntity): Promise<void> {
    await transaction.manager.insert(ConsentEntity, consent);
  }

  async find(id: string, transaction?: Transaction): Promise<ConsentEntity | undefined> {
    const consents = transaction?.manager.withRepository(this.consents) ?? this.consents;
    return (await consents.findOneBy({ id })) ?? undefined;
  }

  /** Live consents of a user, latest first. */
  async ofUser(user: string, now: Date): Promise<ConsentEntity[]> {
    const where = { user, revokedAt: IsNull(), expiresAt: MoreThan(now) };
    return this.consents.find({ where, order: { usedAt: 'DESC' } });
  }

  /** The last hundred live consents of a user to one application, latest first. */
  async lately(user: string, clientId: string, now: Date): Promise<ConsentEntity[]> {
    const where = { user, clientId, revokedAt: IsNull(), expiresAt: MoreThan(now) };
    return this.consents.find({ where, order: { usedAt: 'DESC' }, take: 100 });
  }

  /** Notes that tokens were given now, the last of which dies at `expiresAt`. */
  async touch(
    transaction: Transaction,
    id: string,
    times: { now: Date; expiresAt: Date },
  ): Promise<void> {
    await transaction.execute({
      name: 'auth-consent-touch',
      text: `update authorization_grant
        set used_at = $2, expires_at = greatest(expires_at, $3) where id = $1`,
      values: [id, times.now, times.expiresAt],
    });
  }

  /** Binds the refresh tokens of the consent to a DPoP key. */
  async bind(transaction: Transaction, id: string, dpopKey: string): Promise<void> {
    await transaction.manager.update(ConsentEntity, { id }, { dpopKey });
  }

  /** Revokes those that are live; the ids of those that were. */
  async revoke(
    transaction: Transaction,
    which: Partial<Pick<ConsentEntity, 'id' | 'user' | 'clientId'>>,
    now: Date,
  ): Promise<string[]> {
    const revoked = await transaction.manager
      .createQueryBuilder()
      .update(ConsentEntity)
      .set({ revokedAt: now })
      .where({ ...which, revokedAt: IsNull() })
      .returning('id')
      .execute();
    return (revoked.raw as { id: string }[]).map(({ id }) => id);
  }
}
