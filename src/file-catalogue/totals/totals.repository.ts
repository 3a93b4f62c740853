import type { Queryable, Transaction } from '#src/platform/index.js';
import { CATALOGUE_LOCKS, LOCKS } from '../statements/catalogue-locks.repository.js';

/** Pending rows that are added to the directories in one go. */
export const FOLD_ROWS = 20_000;

/** True when totals are pending. */
export async function isPending(source: Queryable): Promise<boolean> {
  const [row] = await source.query<{ pending: boolean }>({
    name: 'catalogue-is-pending',
    text: 'select exists (select from catalogue_delta) as pending',
  });
  return row?.pending === true;
}

/**
 * Adds pending totals to their directories and all above, up to FOLD_ROWS rows; answers how many there were. Alone:
 * writers that change rows of directories wait (files are registered meanwhile).
 */
export async function foldPending(transaction: Transaction): Promise<number> {
  await transaction.query({
    name: 'catalogue-fold-lock',
    text: `select pg_advisory_xact_lock(${CATALOGUE_LOCKS}, ${LOCKS.totals}),
             set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
  });
  const [row] = await transaction.query<{ folded: number }>({
    name: 'catalogue-fold',
    text: `
      with recursive taken as (
        delete from catalogue_delta where ctid = any(array(
          select ctid from catalogue_delta limit ${FOLD_ROWS} for update skip locked))
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
      select count(*) as folded from taken`,
  });
  return Number(row?.folded ?? 0);
}
