import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Jobs, their descriptions, history, parameters, sandboxes, idempotency keys, executors and exact counters. */
export class CreateJobs1763600000003 implements MigrationInterface {
  name = 'CreateJobs1763600000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const sql of [...TABLES, ...INDEXES, ...COUNTERS]) await queryRunner.query(sql);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      drop table job_peeks, job_idempotency_keys, job_executors, job_parameters, job_history, job_descriptions, jobs,
        job_sandboxes, job_totals, job_label_counts, job_block_counts
    `);
    await queryRunner.query(`
      drop function count_added_jobs(), count_changed_jobs(), count_removed_jobs()
    `);
  }
}

const TABLES = [
  `create table jobs (
    jid bigint generated always as identity primary key,
    setup text not null,
    owner text not null,
    owner_dn text not null,
    owner_group text not null,
    vo text not null,
    status text not null,
    minor_status text not null,
    app_status text not null default 'Unknown',
    name text not null,
    job_group text not null,
    job_type text not null,
    site text not null,
    priority integer not null,
    cpu_time integer not null,
    reschedules integer not null default 0,
    wanted_sites text[] not null default '{}',
    banned_sites text[] not null default '{}',
    verified boolean not null default false,
    retrieved boolean not null default false,
    accounted boolean not null default false,
    input_sandbox text,
    output_sandbox text,
    submission_time timestamptz(3) not null,
    last_update timestamptz(3) not null,
    heart_beat timestamptz(3),
    start_execution timestamptz(3),
    end_execution timestamptz(3),
    reschedule_time timestamptz(3),
    executor text,
    attempt integer not null default 0,
    run_reference text
  ) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05)`,
  `comment on column jobs.executor is
    'who holds something of the job that must be looked after: a claim, a run, or a run to be ended'`,
  `create table job_descriptions (
    jid bigint primary key,
    manifest json not null
  )`,
  `create table job_history (
    id bigint generated always as identity primary key,
    jid bigint not null,
    status text not null,
    minor_status text not null,
    app_status text not null,
    time timestamptz(3) not null,
    source text not null
  )`,
  `create table job_parameters (
    jid bigint primary key,
    parameters jsonb not null
  )`,
  `create table job_sandboxes (
    hash text primary key,
    size_bytes bigint not null,
    files json not null,
    used_at timestamptz(3) not null
  )`,
  `create table job_idempotency_keys (
    owner text not null,
    owner_group text not null,
    setup text not null,
    key text not null,
    body_hash text not null,
    answer json not null,
    created_at timestamptz(3) not null,
    primary key (owner, owner_group, setup, key)
  )`,
  `create table job_executors (
    executor text primary key,
    instance text not null,
    backend text not null,
    seen_at timestamptz(3) not null
  )`,
  `create table job_peeks (
    jid bigint primary key,
    asked_at timestamptz(3) not null,
    answered_at timestamptz(3),
    stdout text not null default '',
    stderr text not null default ''
  )`,
];

const INDEXES = [
  'create index jobs_setup on jobs (setup, jid)',
  'create index jobs_owner on jobs (setup, owner, jid)',
  'create index jobs_owner_group on jobs (setup, owner_group, jid)',
  'create index jobs_status on jobs (setup, status, jid)',
  'create index jobs_site on jobs (setup, site, jid)',
  'create index jobs_name on jobs (setup, name, jid)',
  'create index jobs_job_group on jobs (setup, job_group, jid)',
  'create index jobs_last_update on jobs (setup, last_update, jid)',
  `create index jobs_queue on jobs (site, priority desc, jid)
    where status = 'Waiting' and executor is null`,
  `create index jobs_admission on jobs (jid) where status in ('Received', 'Checking')`,
  'create index jobs_executor on jobs (executor) where executor is not null',
  'create index jobs_input_sandbox on jobs (input_sandbox) where input_sandbox is not null',
  'create index jobs_output_sandbox on jobs (output_sandbox) where output_sandbox is not null',
  'create index job_history_jid on job_history (jid, id)',
  'create index job_sandboxes_used_at on job_sandboxes (used_at)',
  'create index job_idempotency_keys_created_at on job_idempotency_keys (created_at)',
];

/**
 * Counters are sums over rows that are only ever added, in the transaction that changes the jobs: they are exact
 * under every snapshot, and writers never wait for each other. A background job merges the rows now and then.
 * There are three, so that each question sums few rows: totals; by name and by job group, of which there may be
 * millions; and by block of 8192 neighbouring ids, with which deep pages jump over whole blocks.
 */
const COUNTERS = [
  `create table job_totals (
    setup text not null,
    owner text not null,
    owner_group text not null,
    vo text not null,
    status text not null,
    minor_status text not null,
    site text not null,
    job_type text not null,
    n bigint not null,
    is_merged boolean not null default false
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500)`,
  `create table job_label_counts (
    setup text not null,
    kind text not null check (kind in ('name', 'job_group')),
    label text not null,
    owner text not null,
    owner_group text not null,
    status text not null,
    site text not null,
    n bigint not null,
    is_merged boolean not null default false
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500)`,
  `create table job_block_counts (
    setup text not null,
    block integer not null,
    owner text not null,
    status text not null,
    site text not null,
    n bigint not null,
    is_merged boolean not null default false
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500)`,
  'create index job_totals_owner on job_totals (setup, owner)',
  'create index job_totals_fresh on job_totals (setup, owner) where not is_merged',
  'create index job_label_counts_label on job_label_counts (setup, kind, label)',
  `create index job_label_counts_fresh on job_label_counts (setup, kind, label)
    where not is_merged`,
  'create index job_block_counts_block on job_block_counts (setup, block)',
  'create index job_block_counts_fresh on job_block_counts (setup, block) where not is_merged',
  triggerFunction('count_added_jobs', 'select *, 1 as n from added'),
  triggerFunction('count_removed_jobs', 'select *, -1 as n from removed'),
  triggerFunction(
    'count_changed_jobs',
    'select *, 1 as n from added union all select *, -1 as n from removed',
  ),
  `create trigger jobs_added after insert on jobs
    referencing new table as added for each statement execute function count_added_jobs()`,
  `create trigger jobs_removed after delete on jobs
    referencing old table as removed for each statement execute function count_removed_jobs()`,
  `create trigger jobs_changed after update on jobs
    referencing new table as added old table as removed
    for each statement execute function count_changed_jobs()`,
];

function triggerFunction(name: string, changes: string): string {
  return `create function ${name}() returns trigger language plpgsql as $$
    begin
      with changed as materialized (
        select setup, (jid >> 13)::integer as block, name, job_group, owner, owner_group, vo, status,
          minor_status, site, job_type, sum(n) as n
        from (${changes}) c group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 having sum(n) <> 0
      ), totals as (
        insert into job_totals
          (setup, owner, owner_group, vo, status, minor_status, site, job_type, n)
        select setup, owner, owner_group, vo, status, minor_status, site, job_type, sum(n)
        from changed group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(n) <> 0
      ), labels as (
        insert into job_label_counts (setup, kind, label, owner, owner_group, status, site, n)
        select setup, kind, label, owner, owner_group, status, site, sum(n)
        from changed, lateral (values ('name', name), ('job_group', job_group)) l (kind, label)
        group by 1, 2, 3, 4, 5, 6, 7 having sum(n) <> 0
      )
      insert into job_block_counts (setup, block, owner, status, site, n)
        select setup, block, owner, status, site, sum(n)
        from changed group by 1, 2, 3, 4, 5 having sum(n) <> 0;
      return null;
    end $$`;
}
