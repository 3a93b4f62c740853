import {
  CATALOGUE_LOCKS,
  LOCK_SPACES,
  type Queryable,
  type Transaction,
} from '#src/database/index.js';

/** Pending rows that are added to the directories in one go. */
export const MAX_AGGREGATED_ROWS = 20_000;

/** True when totals are pending. */
export async function isPending(source: Queryable): Promise<boolean> {
  const [row] = await source.query<{ pending: boolean }>({
    name: 'catalogue-is-pending',
    text: 'select exists (select from catalogue_delta) as pending',
  });
  return row?.pending === true;
}

/**
 * Adds pending totals to their directories and all above, up to MAX_AGGREGATED_ROWS rows; answers how many there were. Alone:
 * writers that change rows of directories wait (files are registered meanwhile).
 */
export async function aggregatePending(transaction: Transaction): Promise<number> {
  await transaction.query({
    name: 'catalogue-totals-lock',
    text: `select pg_advisory_xact_lock(${LOCK_SPACES.catalogue}, ${CATALOGUE_LOCKS.totals}),
             set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
  });
  const [row] = await transaction.query<{ aggregated: number }>({
    name: 'catalogue-totals-aggregate',
    text: `
      with recursive taken as (
        delete from catalogue_delta where ctid = any(array(
          select ctid from catalogue_delta limit ${MAX_AGGREGATED_ROWS} for update skip locked))
        returning directory_id, files, bytes),
      own as (
        select directory_id, sum(files)::bigint as files, sum(bytes) as bytes from taken group by directory_id),
      upwards as (
        select directory_id as id, files, bytes from own
        union all
        select d.parent, u.files, u.bytes from upwards u cross join lateral (
          select parent from catalogue_directory where id = u.id offset 0) d
        where d.parent is not null),
      changes as (
        select id, sum(files)::bigint as files, sum(bytes) as bytes from upwards group by id),
      changed as (
        update catalogue_directory d set sub_files = d.sub_files + c.files, sub_bytes = d.sub_bytes + c.bytes
        from changes c where d.id = c.id and (c.files <> 0 or c.bytes <> 0))
      select count(*) as aggregated from taken`,
  });
  return Number(row?.aggregated ?? 0);
}
