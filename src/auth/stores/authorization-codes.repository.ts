import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import type { Transaction } from '#src/database/index.js';
import { AuthorizationCodeEntity } from './authorization-code.entity.js';

/** Queries of authorization codes. */
@Injectable()
export class AuthorizationCodesRepository {
  constructor(
    @InjectRepository(AuthorizationCodeEntity)
    private readonly codes: Repository<AuthorizationCodeEntity>,
  ) {}

  async add(transaction: Transaction, code: AuthorizationCodeEntity): Promise<void> {
    await transaction.manager.insert(AuthorizationCodeEntity, code);
  }

  async find(hash: string): Promise<AuthorizationCodeEntity | undefined> {
    return (await this.codes.findOneBy({ hash })) ?? undefined;
  }

  /** Uses the code up; false when it was used already. Of parallel calls exactly one answers true. */
  async consume(transaction: Transaction, hash: string, now: Date): Promise<boolean> {
    const unused = { hash, usedAt: IsNull() };
    const { affected } = await transaction.manager.update(AuthorizationCodeEntity, unused, {
      usedAt: now,
    });
    return affected === 1;
  }
}
