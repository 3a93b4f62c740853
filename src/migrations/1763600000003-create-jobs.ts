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
        job_sandboxes, job_counts, job_name_counts
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

/** What jobs are counted by. A block is 8192 neighbouring ids, so that deep pages jump over whole blocks. */
const DIMENSIONS =
  'setup, block, owner, owner_group, vo, status, minor_status, site, job_group, job_type';
const NAME_DIMENSIONS = 'setup, block, name, owner, owner_group, status, site';

const COLUMNS = `setup, (jid >> 13)::integer as block, name, owner, owner_group, vo, status, minor_status,
  site, job_group, job_type`;

/**
 * Counters are sums over rows that are only ever added, in the transaction that changes the jobs: they are exact
 * under every snapshot, and writers never wait for each other. A cleaning job merges the rows now and then.
 */
const COUNTERS = [
  `create table job_counts (
    setup text not null,
    block integer not null,
    owner text not null,
    owner_group text not null,
    vo text not null,
    status text not null,
    minor_status text not null,
    site text not null,
    job_group text not null,
    job_type text not null,
    n bigint not null,
    is_merged boolean not null default false
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500)`,
  `create table job_name_counts (
    setup text not null,
    block integer not null,
    name text not null,
    owner text not null,
    owner_group text not null,
    status text not null,
    site text not null,
    n bigint not null,
    is_merged boolean not null default false
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500)`,
  'create index job_counts_block on job_counts (setup, block)',
  'create index job_counts_fresh on job_counts (setup, block) where not is_merged',
  'create index job_name_counts_name on job_name_counts (setup, name, block)',
  'create index job_name_counts_fresh on job_name_counts (setup, name, block) where not is_merged',
  triggerFunction('count_added_jobs', `select ${COLUMNS}, 1 as n from added`),
  triggerFunction('count_removed_jobs', `select ${COLUMNS}, -1 as n from removed`),
  triggerFunction(
    'count_changed_jobs',
    `select ${COLUMNS}, 1 as n from added union all select ${COLUMNS}, -1 as n from removed`,
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
      insert into job_counts (${DIMENSIONS}, n)
        select ${DIMENSIONS}, sum(n) from (${changes}) c group by ${DIMENSIONS} having sum(n) <> 0;
      insert into job_name_counts (${NAME_DIMENSIONS}, n)
        select ${NAME_DIMENSIONS}, sum(n) from (${changes}) c
        group by ${NAME_DIMENSIONS} having sum(n) <> 0;
      return null;
    end $$`;
}
