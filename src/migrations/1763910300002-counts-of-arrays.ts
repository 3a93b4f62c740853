import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Members of arrays are counted by state as jobs are by name: an array is shown at the same cost, however large it is. */
export class CountsOfArrays1763910300002 implements MigrationInterface {
  name = 'CountsOfArrays1763910300002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      lock table jobs in share row exclusive mode;
      alter table job_label_counts drop constraint job_label_counts_kind_check;
      alter table job_label_counts add constraint job_label_counts_kind_check
        check (kind in ('name', 'job_group', 'array')) not valid`);
    for (const [name, changes] of FUNCTIONS) {
      await runner.query(counting(name, changes, { also: ', array_id', label: ARRAY }));
    }
    await runner.query(COUNT_ADDED);
    await runner.query(`
      insert into job_label_counts (setup, kind, label, owner, owner_group, status, site, n, is_merged)
      select setup, 'array', array_id::text, owner, owner_group, status, site, count(*), true
      from jobs where array_id is not null group by 1, 3, 4, 5, 6, 7`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name, changes] of FUNCTIONS) {
      await runner.query(counting(name, changes, { also: '', label: '' }));
    }
    await runner.query(`
      delete from job_label_counts where kind = 'array';
      alter table job_label_counts drop constraint job_label_counts_kind_check;
      alter table job_label_counts add constraint job_label_counts_kind_check
        check (kind in ('name', 'job_group')) not valid`);
  }
}

const ARRAY = `, ('array', array_id::text)`;

const FUNCTIONS = [
  ['count_added_jobs', 'select *, 1 as n from added'],
  ['count_removed_jobs', 'select *, -1 as n from removed'],
  ['count_changed_jobs', 'select *, 1 as n from added union all select *, -1 as n from removed'],
] as const;

const OF_LABELS = 'owner, owner_group, status, site';
const ofLabel = (kind: string, column: string, which = ''): string =>
  `select setup, '${kind}', ${column}::text, ${OF_LABELS}, count(*) from added ${which} group by ${column}, setup, ${OF_LABELS}`;

/** New jobs are all counted once: nothing has to be cancelled before, which takes a seventh of what a submit of many costs. */
const COUNT_ADDED = `create or replace function count_added_jobs() returns trigger language plpgsql as $$
  begin
    with totals as (
      insert into job_totals
        (setup, owner, owner_group, vo, status, minor_status, site, job_type, n)
      select setup, owner, owner_group, vo, status, minor_status, site, job_type, count(*)
      from added group by 1, 2, 3, 4, 5, 6, 7, 8
    ), labels as (
      insert into job_label_counts (setup, kind, label, ${OF_LABELS}, n)
      ${ofLabel('name', 'name')}
      union all ${ofLabel('job_group', 'job_group')}
      union all ${ofLabel('array', 'array_id', 'where array_id is not null')}
    )
    insert into job_block_counts (setup, block, owner, status, site, n)
      select setup, (jid >> 13)::integer as block, owner, status, site, count(*)
      from added group by block, setup, owner, status, site;
    return null;
  end $$`;

/** The counters of jobs: sums over rows that are only ever added; what a change leaves as it was is cancelled first. */
function counting(
  name: string,
  changes: string,
  { also, label }: { also: string; label: string },
): string {
  return `create or replace function ${name}() returns trigger language plpgsql as $$
    begin
      with changed as materialized (
        select setup, (jid >> 13)::integer as block, name, job_group, owner, owner_group, vo, status,
          minor_status, site, job_type${also}, sum(n) as n
        from (${changes}) c
        group by setup, block, name, job_group, owner, owner_group, vo, status, minor_status, site, job_type${also}
        having sum(n) <> 0
      ), totals as (
        insert into job_totals
          (setup, owner, owner_group, vo, status, minor_status, site, job_type, n)
        select setup, owner, owner_group, vo, status, minor_status, site, job_type, sum(n)
        from changed group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(n) <> 0
      ), labels as (
        insert into job_label_counts (setup, kind, label, owner, owner_group, status, site, n)
        select setup, kind, label, owner, owner_group, status, site, sum(n)
        from changed, lateral (values ('name', name), ('job_group', job_group)${label}) l (kind, label)
        where label is not null
        group by 1, 2, 3, 4, 5, 6, 7 having sum(n) <> 0
      )
      insert into job_block_counts (setup, block, owner, status, site, n)
        select setup, block, owner, status, site, sum(n)
        from changed group by 1, 2, 3, 4, 5 having sum(n) <> 0;
      return null;
    end $$`;
}
