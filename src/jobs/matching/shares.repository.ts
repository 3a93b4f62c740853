import { Injectable } from '@nestjs/common';
import { columnsOf, Database, type Transaction } from '#src/database/index.js';
import { JobShareEntity } from './job-share.entity.js';

/** What an owner had had in a group when somebody looked. */
export type StoredShare = Pick<JobShareEntity, 'ownerGroup' | 'owner' | 'used' | 'held' | 'asOf'>;

const COLUMNS = columnsOf(JobShareEntity, {
  alias: 's',
  only: ['ownerGroup', 'owner', 'used', 'held', 'asOf'],
});

/** What owners have had of the processors. */
@Injectable()
export class SharesRepository {
  constructor(private readonly database: Database) {}

  /** Of everybody who has had something that still counts, or holds something. */
  async read(): Promise<StoredShare[]> {
    return this.database.query({
      name: 'jobs-shares',
      text: `select ${COLUMNS} from job_shares s`,
    });
  }

  /** Who holds how many processors now. */
  async held(): Promise<Pick<StoredShare, 'ownerGroup' | 'owner' | 'held'>[]> {
    return this.database.query({
      name: 'jobs-shares-held',
      text: `select owner_group as "ownerGroup", owner, sum(processors)::integer as held
        from jobs where executor is not null group by owner_group, owner`,
    });
  }

  /**
   * Looks who holds how many processors now, and charges what was at work between the last look and this one: the mean of both
   * looks, for `everySeconds` at most where nothing was at work at the last one. The caller holds the lock; a look that follows
   * the last one at once does nothing.
   */
  async count(
    transaction: Transaction,
    { now, halfLife, everySeconds }: { now: Date; halfLife: number; everySeconds: number },
  ): Promise<void> {
    await transaction.execute({
      name: 'jobs-count-shares',
      text: COUNT,
      values: [now, halfLife, everySeconds],
    });
    await transaction.execute({
      name: 'jobs-forget-shares',
      text: `delete from job_shares where held = 0 and used * ${decay('as_of')} < 1`,
      values: [now, halfLife],
    });
  }
}

/** What is left of 1 after the time since; the exponent is kept small: PostgreSQL refuses what is too near to 0. */
function decay(since: string): string {
  return `power(0.5::float8, least(60, ${secondsSince(since)} / $2::float8))`;
}

function secondsSince(time: string): string {
  return `greatest(0, extract(epoch from $1::timestamptz - ${time}))::float8`;
}

const COUNT = `
  with last as (
    select max(as_of) as at from job_shares
  ), holding as (
    select owner_group, owner, sum(processors)::integer as held,
      coalesce(sum(processors) filter (where status in ('Running', 'Stalled', 'Completing')), 0)::integer as running
    from jobs where executor is not null group by owner_group, owner
  ), counted as (
    select owner_group, owner, coalesce(h.held, 0) as held, coalesce(h.running, 0) as running,
      coalesce(s.used * ${decay('s.as_of')}, 0)
        + (coalesce(s.running, 0) + coalesce(h.running, 0)) / 2.0::float8
          * case when s.running > 0 then ${secondsSince('s.as_of')}
              when last.at is null then $3::float8
              else least($3::float8, ${secondsSince('last.at')}) end as used
    from holding h full join job_shares s using (owner_group, owner) cross join last
    where (h.held is not null or s.held > 0)
      and (last.at is null or ${secondsSince('last.at')} >= $3::float8 / 2)
  )
  insert into job_shares (owner_group, owner, used, held, running, as_of)
  select owner_group, owner, used, held, running, $1 from counted
  on conflict (owner_group, owner) do update
    set used = excluded.used, held = excluded.held, running = excluded.running, as_of = excluded.as_of`;
