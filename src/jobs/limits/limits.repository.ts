import { Injectable } from '@nestjs/common';
import { LOCK_SEEDS, type Queryable, type Transaction } from '#src/database/index.js';
import type { LimitedOwner, OwnerCount } from './owner-limits.js';

/** Jobs of an owner that wait; `site` is the one that they name alone, else a word for several or any. */
export interface WaitingCount extends OwnerCount {
  setup: string;
  vo: string;
  site: string;
}

/** Of whose jobs it is asked how many there are. */
export interface CountedOwners {
  groups: readonly string[];
  owners: readonly string[];
}

/** Counts what limits are of. */
@Injectable()
export class LimitsRepository {
  /**
   * How many jobs of these groups and owners sites hold. With `isAlone` no other transaction that asks so gives jobs away before this
   * one has ended.
   */
  async held(
    queryable: Queryable,
    { groups, owners }: CountedOwners,
    isAlone = false,
  ): Promise<OwnerCount[]> {
    if (isAlone) await this.lock(queryable, ['running']);
    return queryable.query<OwnerCount>({
      name: 'limits-held',
      text: HELD,
      values: [groups, owners],
    });
  }

  /**
   * How many jobs of these groups and owners, and for these sites alone, wait. Costs what the counters of jobs have of rows,
   * however many jobs there are.
   */
  async waiting(
    queryable: Queryable,
    { groups, owners }: CountedOwners,
    sites: readonly string[],
  ): Promise<WaitingCount[]> {
    return queryable.query<WaitingCount>({
      name: 'limits-waiting',
      text: WAITING,
      values: [groups, owners, sites],
    });
  }

  /** Waits for those who count under one of these keys, until the end of the transaction. */
  async lock(queryable: Queryable | Transaction, keys: readonly string[]): Promise<void> {
    await queryable.query({
      name: 'limits-lock',
      text: `select pg_advisory_xact_lock(hashtextextended(key, ${LOCK_SEEDS.limits}))
        from (select key from unnest($1::text[]) as x (key) order by key) as sorted`,
      values: [keys],
    });
  }
}

/** Each owner in each group once. */
export function countedOf(owned: readonly LimitedOwner[]): CountedOwners {
  return {
    groups: [...new Set(owned.map(({ ownerGroup }) => ownerGroup))],
    owners: [...new Set(owned.map(({ owner }) => owner))],
  };
}

/** A job counts until its executor lets go of it: as long as something of it may run. */
const HELD = `
  select owner, owner_group as "ownerGroup", count(*)::integer as jobs from jobs
  where executor is not null and (owner_group = any($1::text[]) or owner = any($2::text[]))
  group by owner, owner_group`;

const WAITING = `
  select owner, owner_group as "ownerGroup", setup, vo, site, sum(n)::integer as jobs from job_totals
  where status in ('Received', 'Checking', 'Waiting')
    and (owner_group = any($1::text[]) or owner = any($2::text[]) or site = any($3::text[]))
  group by owner, owner_group, setup, vo, site`;
