import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database, type Transaction } from '#src/database/index.js';
import { ExpiredRows } from '#src/runtime/index.js';
import { PushedRequestEntity } from './pushed-request.entity.js';

/** Queries of pushed authorization requests. */
@Injectable()
export class PushedRequestsRepository implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    @InjectRepository(PushedRequestEntity)
    private readonly requests: Repository<PushedRequestEntity>,
    private readonly expiredRows: ExpiredRows,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(PushedRequestEntity);
  }

  async add(request: PushedRequestEntity): Promise<void> {
    await this.requests.insert(request);
  }

  /**
   * The request, undefined when it is unknown, used or too old. Who opens it first has until `end` to sign in and decide;
   * until then the same browser may load the page again.
   */
  async open(
    hash: string,
    { now, end }: { now: Date; end: Date },
  ): Promise<Pick<PushedRequestEntity, 'clientId' | 'parameters'> | undefined> {
    const [row] = await this.database.query<{ clientId: string; parameters: string }>({
      name: 'auth-pushed-open',
      text: `update pushed_request
        set opened_at = coalesce(opened_at, $2),
          expires_at = case when opened_at is null then $3 else expires_at end
        where hash = $1 and expires_at > $2
        returning client_id as "clientId", parameters`,
      values: [hash, now, end],
    });
    return row;
  }

  /** Uses the request up; false when it was used already. Of parallel calls exactly one answers true. */
  async consume(transaction: Transaction, hash: string): Promise<boolean> {
    const { affected } = await transaction.manager.delete(PushedRequestEntity, { hash });
    return affected === 1;
  }
}
