import { entityColumns, type Transaction } from '#src/database/index.js';
import {
  JobBlockCountEntity,
  JobLabelCountEntity,
  JobTotalEntity,
  type CounterEntity,
} from './job-counters.entity.js';

const MERGE_LIMIT = 20_000;

/** Counter tables with their columns; rows of one key are merged together. */
export const COUNTERS = {
  job_totals: counterOf(JobTotalEntity),
  job_label_counts: counterOf(JobLabelCountEntity),
  job_block_counts: counterOf(JobBlockCountEntity),
};

/** Names of the counter tables. */
export type CounterTable = keyof typeof COUNTERS;

function counterOf<E extends CounterEntity>(
  entity: new () => E,
): { key: string[]; columns: string[] } {
  const columns = entityColumns(entity).filter(
    ({ property }) => property !== 'n' && property !== 'isMerged',
  );
  const names = (wanted: typeof columns): string[] => wanted.map(({ name }) => name);
  return { key: names(columns.filter(({ isPrimary }) => isPrimary)), columns: names(columns) };
}

function mergeSql(table: CounterTable): string {
  const { key, columns } = COUNTERS[table];
  return `with fresh as materialized (
      select distinct ${key.join(', ')} from
        (select ${key.join(', ')} from ${table} where not is_merged limit ${MERGE_LIMIT}) f
    ), old as (
      delete from ${table} using fresh
      where ${key.map((column) => `${table}.${column} = fresh.${column}`).join(' and ')}
      returning ${table}.*
    )
    insert into ${table} (${columns.join(', ')}, n, is_merged)
    select ${columns.join(', ')}, sum(n), true from old
    group by ${columns.join(', ')} having sum(n) <> 0`;
}

/**
 * Merges the rows that changes have added to the counters; sums stay the same in every snapshot. Answers true when there
 * may be more to merge.
 */
export async function mergeCounters(transaction: Transaction): Promise<boolean> {
  let written = 0;
  for (const table of Object.keys(COUNTERS) as CounterTable[]) {
    written += await transaction.execute({ name: `jobs-merge-${table}`, text: mergeSql(table) });
  }
  return written > MERGE_LIMIT;
}
