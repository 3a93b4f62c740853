import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#src/database/index.js';
import type { Visibility } from '../access/job.policy.js';

/** What a report can be divided by, in the order of its columns. */
export const USAGE_KEYS = ['month', 'day', 'vo', 'group', 'owner', 'site', 'jobGroup'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];

/** The runs that a report is about. */
export interface UsageWanted {
  /** First and last day, both belong to it: `2026-01-31`. */
  from: string;
  to: string;
  by: readonly UsageKey[];
  group?: string | undefined;
  owner?: string | undefined;
  site?: string | undefined;
  jobGroup?: string | undefined;
}

/** What some runs have used together. */
export interface UsageSums {
  runs: number;
  done: number;
  wallSeconds: number;
  processorSeconds: number;
  cpuSeconds: number;
  measuredSeconds: number;
  memorySeconds: number;
  memoryUsed: number;
  memoryGiven: number;
}

export type UsageRow = Partial<Record<UsageKey, string>> & UsageSums;

const DAY = `(ended_at at time zone 'UTC')::date`;

const KEY_COLUMNS: Record<UsageKey, string> = {
  month: `to_char(day, 'YYYY-MM')`,
  day: `to_char(day, 'YYYY-MM-DD')`,
  vo: 'vo',
  group: 'owner_group',
  owner: 'owner',
  site: 'site',
  jobGroup: 'job_group',
};

/** What each sum adds of one run. */
const OF_RUN = {
  runs: '1',
  done: 'is_done::integer',
  wall_seconds: 'wall_seconds',
  processor_seconds: 'wall_seconds * processors',
  cpu_seconds: 'coalesce(cpu_seconds, 0)',
  measured_seconds: 'case when cpu_seconds is null then 0 else wall_seconds * processors end',
  memory_seconds: 'wall_seconds * coalesce(given_mb, used_mb, 0)',
  memory_used: 'case when given_mb is null then 0 else wall_seconds * coalesce(used_mb, 0) end',
  memory_given: 'case when used_mb is null then 0 else wall_seconds * coalesce(given_mb, 0) end',
};
const SUMS = Object.keys(OF_RUN);

/** What runs have used: those of the last minutes one by one, all others as sums of days. */
@Injectable()
export class UsageRepository {
  constructor(private readonly database: Database) {}

  /** Sums of the runs that may be seen, in the order of the keys; at most `limit` rows. */
  async report(wanted: UsageWanted, visibility: Visibility, limit: number): Promise<UsageRow[]> {
    const { from, to, by } = wanted;
    const { sql, values } = whereOf(wanted, visibility, [from, to]);
    const keys = by.map((key) => `${KEY_COLUMNS[key]} as "${key}"`);
    const places = by.map((_, index) => String(index + 1)).join(', ');
    return this.database.query<UsageRow>({
      text: `select ${[...keys, ...SUMS.map((sum) => `sum(${sum})::float8 as "${camel(sum)}"`)].join(', ')}
        from (
          select day, vo, owner_group, owner, site, job_group, ${SUMS.join(', ')} from job_usage
          where day between $1::date and $2::date and ${sql}
          union all
          select ${DAY}, vo, owner_group, owner, site, job_group, ${Object.values(OF_RUN).join(', ')} from job_runs
          where ${DAY} between $1::date and $2::date and ${sql}
        ) u
        ${by.length > 0 ? `group by ${places} order by ${places}` : 'having count(*) > 0'} limit ${limit}`,
      values,
    });
  }

  /**
   * Adds the runs that were written down before that time to the sums of their days, `limit` at most. Answers how many.
   * The caller holds the lock.
   */
  async fold(transaction: Transaction, before: Date, limit: number): Promise<number> {
    const [row] = await transaction.query<{ folded: number }>({
      name: 'jobs-fold-usage',
      text: FOLD,
      values: [before, limit],
    });
    return row?.folded ?? 0;
  }

  /** Tells job groups of days before that one apart no longer, `limit` sums at most. Answers how many. The caller holds the lock. */
  async mergeGroups(transaction: Transaction, before: Date, limit: number): Promise<number> {
    const [row] = await transaction.query<{ merged: number }>({
      name: 'jobs-merge-usage',
      text: MERGE,
      values: [before, limit],
    });
    return row?.merged ?? 0;
  }
}

function whereOf(
  { group, owner, site, jobGroup }: UsageWanted,
  visibility: Visibility,
  values: unknown[],
): { sql: string; values: unknown[] } {
  const is = (column: string, value: string): string => `${column} = $${values.push(value)}`;
  const seen = [
    ...(visibility.owner === undefined ? [] : [is('owner', visibility.owner)]),
    ...(visibility.group === undefined
      ? []
      : [`(${is('owner_group', visibility.group.name)} and ${is('vo', visibility.group.vo)})`]),
    ...(visibility.vo === undefined ? [] : [is('vo', visibility.vo)]),
  ];
  const all = [
    is('setup', visibility.setup),
    ...(seen.length === 0 ? [] : [`(${seen.join(' or ')})`]),
    ...(group === undefined ? [] : [is('owner_group', group)]),
    ...(owner === undefined ? [] : [is('owner', owner)]),
    ...(site === undefined ? [] : [is('site', site)]),
    ...(jobGroup === undefined ? [] : [is('job_group', jobGroup)]),
  ];
  return { sql: all.join(' and '), values };
}

function camel(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const WHOSE = 'setup, day, vo, owner_group, owner, site';
const FOLD_KEYS = `${WHOSE}, job_group`;
const ADD = `on conflict (${FOLD_KEYS}) do update
      set ${SUMS.map((sum) => `${sum} = job_usage.${sum} + excluded.${sum}`).join(', ')}`;
const FOLD = `
  with taken as (
    delete from job_runs where (jid, attempt) in (
      select jid, attempt from job_runs where noted_at < $1 order by jid, attempt limit $2 for update)
    returning *, ${DAY} as day
  ), summed as (
    select ${FOLD_KEYS}, ${Object.entries(OF_RUN)
      .map(([sum, expression]) => `sum(${expression}) as ${sum}`)
      .join(', ')}
    from taken group by ${FOLD_KEYS}
  ), folded as (
    insert into job_usage (${FOLD_KEYS}, ${SUMS.join(', ')})
    select ${FOLD_KEYS}, ${SUMS.join(', ')} from summed
    ${ADD}
  )
  select count(*)::integer as folded from taken`;

/** Job groups may be as many as jobs: those of one owner, day and site become one sum. */
const MERGE = `
  with taken as (
    delete from job_usage where (${FOLD_KEYS}) in (
      select ${FOLD_KEYS} from job_usage where day < $1::date and job_group <> ''
      order by day limit $2 for update)
    returning *
  ), merged as (
    insert into job_usage (${FOLD_KEYS}, ${SUMS.join(', ')})
    select ${WHOSE}, '', ${SUMS.map((sum) => `sum(${sum})`).join(', ')} from taken group by ${WHOSE}
    ${ADD}
  )
  select count(*)::integer as merged from taken`;
