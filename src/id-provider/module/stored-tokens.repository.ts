import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ExpiredRows } from '#src/runtime/index.js';
import { StoredTokenEntity } from './stored-token.entity.js';

/** Queries of stored tokens: sealed texts by id. */
@Injectable()
export class StoredTokensRepository implements OnApplicationBootstrap {
  constructor(
    @InjectRepository(StoredTokenEntity) private readonly tokens: Repository<StoredTokenEntity>,
    private readonly expiredRows: ExpiredRows,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(StoredTokenEntity);
  }

  async put(token: StoredTokenEntity): Promise<void> {
    await this.tokens.upsert(token, ['id']);
  }

  async find(id: string): Promise<string | undefined> {
    return (await this.tokens.findOneBy({ id }))?.sealed;
  }

  /** Puts the renewed token in the place of the one it was made from; false when that is not there any more. */
  async replace({
    id,
    before,
    sealed,
    expiresAt,
  }: StoredTokenEntity & { before: string }): Promise<boolean> {
    const changed = await this.tokens.update({ id, sealed: before }, { sealed, expiresAt });
    return changed.affected === 1;
  }

  /** Removes the token; with `sealed` only when it is still that one. */
  async remove(id: string, sealed?: string): Promise<void> {
    await this.tokens.delete({ id, ...(sealed === undefined ? {} : { sealed }) });
  }
}
