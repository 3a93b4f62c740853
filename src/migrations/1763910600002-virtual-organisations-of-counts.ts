import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Counts by name, job group, array and block know the virtual organisation, at whose border most lists end. The column has no
 * default: an instance of the version before, which knows nothing of it, cannot merge these counts and leaves that to others.
 */
export class VirtualOrganisationsOfCounts1763910600002 implements MigrationInterface {
  name = 'VirtualOrganisationsOfCounts1763910600002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      lock table jobs in share row exclusive mode;
      truncate job_label_counts, job_block_counts;
      alter table job_label_counts add column vo text not null;
      alter table job_block_counts add column vo text not null`);
    await replaceFunctions(runner, ', vo');
    await runner.query(`
      insert into job_label_counts (setup, kind, label, ${labelled(', vo')}, n, is_merged)
      select setup, kind, label, ${labelled(', vo')}, count(*), true from jobs, lateral (values ${LABELS}) l (kind, label)
      where label is not null group by setup, kind, label, ${labelled(', vo')};
      insert into job_block_counts (setup, block, ${placed(', vo')}, n, is_merged)
      select setup, ${BLOCK} as block, ${placed(', vo')}, count(*), true
      from jobs group by setup, block, ${placed(', vo')}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('lock table jobs in share row exclusive mode');
    await replaceFunctions(runner, '');
    await runner.query(`
      alter table job_label_counts drop column vo;
      alter table job_block_counts drop column vo`);
  }
}

async function replaceFunctions(runner: QueryRunner, vo: string): Promise<void> {
  await runner.query(countingAdded(vo));
  await runner.query(counting('count_removed_jobs', 'select *, -1 as n from removed', vo));
  const changes = 'select *, 1 as n from added union all select *, -1 as n from removed';
  await runner.query(counting('count_changed_jobs', changes, vo));
}

const BLOCK = '(jid >> 13)::integer';
const LABELS = `('name', name), ('job_group', job_group), ('array', array_id::text)`;
const labelled = (vo: string): string => `owner, owner_group${vo}, status, site`;
const placed = (vo: string): string => `owner${vo}, status, site`;

/** New jobs are all counted once: nothing has to be cancelled before. */
function countingAdded(vo: string): string {
  const of = labelled(vo);
  const ofLabel = (kind: string, column: string, which = ''): string =>
    `select setup, '${kind}', ${column}::text, ${of}, count(*) from added ${which} group by ${column}, setup, ${of}`;
  return `create or replace function count_added_jobs() returns trigger language plpgsql as $$
    begin
      with totals as (
        insert into job_totals
          (setup, owner, owner_group, vo, status, minor_status, site, job_type, n)
        select setup, owner, owner_group, vo, status, minor_status, site, job_type, count(*)
        from added group by 1, 2, 3, 4, 5, 6, 7, 8
      ), labels as (
        insert into job_label_counts (setup, kind, label, ${of}, n)
        ${ofLabel('name', 'name')}
        union all ${ofLabel('job_group', 'job_group')}
        union all ${ofLabel('array', 'array_id', 'where array_id is not null')}
      )
      insert into job_block_counts (setup, block, ${placed(vo)}, n)
        select setup, ${BLOCK} as block, ${placed(vo)}, count(*)
        from added group by block, setup, ${placed(vo)};
      return null;
    end $$`;
}

/** What a change leaves as it was is cancelled first. */
function counting(name: string, changes: string, vo: string): string {
  const all =
    'name, job_group, owner, owner_group, vo, status, minor_status, site, job_type, array_id';
  return `create or replace function ${name}() returns trigger language plpgsql as $$
    begin
      with changed as materialized (
        select setup, ${BLOCK} as block, ${all}, sum(n) as n
        from (${changes}) c group by setup, block, ${all} having sum(n) <> 0
      ), totals as (
        insert into job_totals
          (setup, owner, owner_group, vo, status, minor_status, site, job_type, n)
        select setup, owner, owner_group, vo, status, minor_status, site, job_type, sum(n)
        from changed group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(n) <> 0
      ), labels as (
        insert into job_label_counts (setup, kind, label, ${labelled(vo)}, n)
        select setup, kind, label, ${labelled(vo)}, sum(n)
        from changed, lateral (values ${LABELS}) l (kind, label)
        where label is not null
        group by setup, kind, label, ${labelled(vo)} having sum(n) <> 0
      )
      insert into job_block_counts (setup, block, ${placed(vo)}, n)
        select setup, block, ${placed(vo)}, sum(n)
        from changed group by setup, block, ${placed(vo)} having sum(n) <> 0;
      return null;
    end $$`;
}
