import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ExpiredRows, type Transaction } from '#src/platform/index.js';
import { RefreshTokenEntity } from './refresh-token.entity.js';

/** Queries of refresh tokens. */
@Injectable()
export class RefreshTokensRepository implements OnApplicationBootstrap {
  @Inject() private readonly expiredRows!: ExpiredRows;

  constructor(
    @InjectRepository(RefreshTokenEntity) private readonly tokens: Repository<RefreshTokenEntity>,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(RefreshTokenEntity);
  }

  async add(
    transaction: Transaction,
    token: Pick<RefreshTokenEntity, 'hash' | 'consentId' | 'createdAt' | 'expiresAt'>,
  ): Promise<void> {
    await transaction.manager.insert(RefreshTokenEntity, token);
  }

  async find(hash: string): Promise<RefreshTokenEntity | undefined> {
    return (await this.tokens.findOneBy({ hash })) ?? undefined;
  }

  /** The token, locked until the transaction ends: parallel renewals come one after the other. */
  async lock(transaction: Transaction, hash: string): Promise<RefreshTokenEntity | undefined> {
    const lock = { mode: 'pessimistic_write' } as const;
    const found = await transaction.manager.findOne(RefreshTokenEntity, { where: { hash }, lock });
    return found ?? undefined;
  }

  async markUsed(
    transaction: Transaction,
    hash: string,
    use: { usedAt: Date; successorSeed: string },
  ): Promise<void> {
    await transaction.manager.update(RefreshTokenEntity, { hash }, use);
  }
}
