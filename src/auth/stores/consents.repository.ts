import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, MoreThan, Repository } from 'typeorm';
import type { Transaction } from '#src/platform/index.js';
import { ConsentEntity } from './consent.entity.js';

/** Queries of consents. */
@Injectable()
export class ConsentsRepository {
  constructor(
    @InjectRepository(ConsentEntity) private readonly consents: Repository<ConsentEntity>,
  ) {}

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

  /** Forgets consents of which every token is dead, with their codes and refresh tokens. */
  async clean(now: Date): Promise<number> {
    return (await this.consents.delete({ expiresAt: LessThan(now) })).affected ?? 0;
  }
}
