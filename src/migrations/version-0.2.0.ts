import type { QueryRunner } from 'typeorm';

/** From the tables of version 0.1.0 to those of 0.2.0, with what they hold. */
export class Version0201764288000000 {
  async up(runner: QueryRunner): Promise<void> {
    // The jobs, of which there may be millions, come first: while they are written anew people can still sign in.
    const jobs = [JOBS, ...COUNTERS, QUEUE, RUNS, DEPENDENCIES];
    for (const sql of [...jobs, WORKERS, EVENTS, AUTHORIZATION, REGISTRY, DATA])
      await runner.query(sql);
  }
}

const WORKERS = `
  -- Programs that run jobs of sites, and the secrets with which they enrol.
  create table site_secret (
    id text primary key,
    site text not null,
    hash text not null,
    reusable boolean not null,
    jkt text,
    created_at timestamptz not null,
    created_by text not null,
    revoked_at timestamptz
  );
  create index site_secret_site on site_secret (site);
  create table worker (
    id uuid primary key,
    site text,
    jkt text,
    secret_id text,
    name text not null,
    version text not null,
    protocol integer not null,
    facts jsonb not null,
    instance text,
    owner text,
    seq bigint not null default 0,
    created_at timestamptz not null,
    seen_at timestamptz not null,
    draining_at timestamptz,
    removed_at timestamptz,
    bad_runs text[] not null default '{}',
    pauses integer not null default 0,
    paused_until timestamptz
  ) with (fillfactor = 70);
  create unique index worker_key on worker (site, jkt) where removed_at is null;
  create index worker_secret on worker (secret_id);
`;

const REGISTRY = `
  -- Users have an opaque subject for life. What was given once is remembered by the database itself, so that a version that knows
  -- nothing of subjects keeps the rule.
  alter table registry_user
    add column sub text not null default gen_random_uuid()::text,
    add constraint registry_user_sub_key unique (sub),
    add column full_name text,
    add column email text,
    add column limits jsonb,
    add column disabled boolean not null default false;
  create table registry_known_subject (
    sub text primary key,
    user_name text not null
  );
  insert into registry_known_subject (sub, user_name) select sub, name from registry_user;
  create function registry_keep_subjects() returns trigger language plpgsql as $$
    begin
      insert into registry_known_subject (sub, user_name) select sub, name from written
        on conflict (sub) do nothing;
      return null;
    end $$;
  create trigger registry_user_subject_added after insert on registry_user
    referencing new table as written for each statement execute function registry_keep_subjects();
  create trigger registry_user_subject_changed after update on registry_user
    referencing new table as written for each statement execute function registry_keep_subjects();

  -- A certificate may count from one CA only: the same DN from different CAs may be different users.
  alter table registry_certificate add column issuer text, drop constraint registry_certificate_pkey;
  create unique index registry_certificate_identity on registry_certificate (dn, coalesce(issuer, ''));

  alter table registry_state add column file_rules boolean not null default false;
  alter table registry_group add column limits jsonb;
  -- Null: not declared. Which kinds of backends there are is said by the code that reads the registry alone.
  alter table registry_site
    add column processors integer check (processors > 0),
    add column ram_mb integer check (ram_mb > 0),
    add column gpus integer check (gpus >= 0),
    add column tags text[],
    add column vos text[],
    add column max_wall_time integer check (max_wall_time > 0),
    add column network text check (network in ('none', 'host')),
    add column limits jsonb,
    add column connection jsonb,
    drop constraint registry_site_backend_check;
  -- Null: not said. One without url has no address.
  alter table registry_storage_element
    add column url text,
    add column kind text check (kind in ('webdav', 's3')),
    add column vos text[],
    add column base text,
    add column audience text,
    add column credentials_file text,
    add column removes boolean;
  alter table registry_application
    add column audiences text[],
    add column post_logout_redirect_uris text[],
    add column authentication text,
    add column jwks jsonb,
    add column subject_dn text,
    add column profile text,
    add column scopes text[],
    add column group_name text,
    add column id_token_alg text;

  create table registry_share (
    group_name text primary key,
    position integer not null,
    weight integer not null
  );
  create table registry_drain (
    site text primary key,
    reason text not null,
    drained_by text not null,
    drained_at timestamptz(3) not null
  );
  create trigger registry_share_changed after insert or update or delete or truncate on registry_share
    for each statement execute function registry_changed();
  create trigger registry_drain_changed after insert or update or delete or truncate on registry_drain
    for each statement execute function registry_changed();
  -- When memberships ended: tokens from before are dead also when there is the same membership again.
  create table registry_departure (
    user_name text not null,
    group_name text not null,
    left_at timestamptz not null,
    primary key (user_name, group_name)
  );
`;

const AUTHORIZATION = `
  alter table browser_session
    add column sid text, add column authenticated_at timestamptz, add column signed_in_for text;
  update browser_session set sid = gen_random_uuid()::text, authenticated_at = created_at
    where user_name is not null;
  alter table authorization_grant
    add column audience text[], add column sub text, add column auth_time timestamptz, add column acr text,
    add column sid text, add column dpop_key text;
  alter table authorization_code add column nonce text, add column dpop_key text;
  alter table device_authorization add column audience text[];

  create table pushed_request (
    hash text primary key,
    client_id text not null,
    parameters text not null,
    opened_at timestamptz,
    expires_at timestamptz not null
  );
  create index pushed_request_expiry on pushed_request (expires_at);
  create table used_proof (
    id text primary key,
    expires_at timestamptz not null
  );
  create index used_proof_expiry on used_proof (expires_at);
  -- DPoP proofs of requests with an access token. Not logged, since a row is written for each such request and lives for minutes;
  -- without an index of the ends, since that would be written for each and read once in five minutes.
  create unlogged table request_proof (
    id text primary key,
    expires_at timestamptz not null
  );
  -- RSA keys of ID tokens
  create table id_token_key (
    kid text primary key,
    algorithm text not null,
    public_jwk jsonb not null,
    private_key text not null,
    created_at timestamptz not null,
    active_from timestamptz,
    longest_ttl integer not null
  );
  create unique index id_token_key_next on id_token_key ((true)) where active_from is null;
`;

const JOBS = `
  lock table jobs in access exclusive mode;
  -- The jobs of one submit may be an array.
  create table job_arrays (
    id bigint generated always as identity primary key,
    setup text not null,
    owner text not null,
    owner_group text not null,
    vo text not null,
    name text,
    total integer not null,
    submission_time timestamptz(3) not null
  );
  -- Memory in MB, wall time in seconds; a null wall time is as long as the site lets it.
  alter table jobs
    add column processors integer not null default 1,
    add column min_ram_mb integer not null default 0,
    add column gpus integer not null default 0,
    add column tags text[] not null default '{}',
    add column wall_time integer,
    add column max_ram_mb integer not null default 0;
  update jobs j set processors = coalesce(w.processors::integer, 1), max_ram_mb = coalesce(w.ram::integer, 0)
    from (
      select jid,
        substring(coalesce(manifest ->> 'NumberOfProcessors', manifest ->> 'MinNumberOfProcessors') from '^[0-9]{1,4}$')
          as processors,
        substring(manifest ->> 'MaxRAM' from '^[0-9]{1,8}$') as ram
      from job_descriptions
      where manifest::text like '%NumberOfProcessors%' or manifest::text like '%MaxRAM%'
    ) w where w.jid = j.jid;
  -- Waiting jobs that ask for the same have one shape, a hash: those for which there is no room are passed by in one step, however many
  -- they are. Jobs that were found to fit nowhere are apart: whether that is still so is asked once for all of a shape.
  alter table jobs
    add column shape bigint not null generated always as (
      hashtextextended(setup, 1)
      # hash_array_extended(wanted_sites, 2)
      # hash_array_extended(banned_sites, 3)
      # hash_array_extended(tags, 4)
      # hashint4extended(processors, 5)
      # hashint4extended(min_ram_mb, 6)
      # hashint4extended(max_ram_mb, 7)
      # hashint4extended(gpus, 8)
      # hashint4extended(coalesce(wall_time, 0), 9)
      # hashtextextended(vo, 10)
      # case when minor_status = 'No candidate sites available' then 1 else 0 end) stored,
    add column held_by text,
    add column array_id bigint,
    add column batch_wait jsonb;
  create index jobs_array on jobs (array_id, jid) where array_id is not null;

  -- Jobs of a parametric manifest share one row with what they have in common; their own row holds only what they have for themselves.
  create table job_templates (
    id bigint generated always as identity primary key,
    manifest json not null,
    added json not null
  );
  alter table job_descriptions
    add column template bigint, add column place_values json, add column token_right text;

  truncate job_label_counts, job_block_counts;
  alter table job_label_counts
    drop constraint job_label_counts_kind_check,
    add constraint job_label_counts_kind_check check (kind in ('name', 'job_group', 'array')),
    add column vo text not null;
  alter table job_block_counts add column vo text not null;
`;

const BLOCK = '(jid >> 13)::integer';
const LABELS = `('name', name), ('job_group', job_group), ('array', array_id::text)`;
const LABELLED = 'owner, owner_group, vo, status, site';
const PLACED = 'owner, vo, status, site';
const TOTALLED = 'setup, owner, owner_group, vo, status, minor_status, site, job_type';

/** What a change leaves as it was is cancelled before it is counted. New jobs are all counted: that takes a seventh less. */
const COUNTERS = [
  `create or replace function count_added_jobs() returns trigger language plpgsql as $$
    begin
      with totals as (
        insert into job_totals (${TOTALLED}, n) select ${TOTALLED}, count(*) from added group by ${TOTALLED}
      ), labels as (
        insert into job_label_counts (setup, kind, label, ${LABELLED}, n)
        ${labelsOfAdded('name', 'name')}
        union all ${labelsOfAdded('job_group', 'job_group')}
        union all ${labelsOfAdded('array', 'array_id', 'where array_id is not null')}
      )
      insert into job_block_counts (setup, block, ${PLACED}, n)
        select setup, ${BLOCK} as block, ${PLACED}, count(*) from added group by block, setup, ${PLACED};
      return null;
    end $$`,
  countChanges('count_removed_jobs', 'select *, -1 as n from removed'),
  countChanges(
    'count_changed_jobs',
    'select *, 1 as n from added union all select *, -1 as n from removed',
  ),
  `create or replace trigger jobs_added after insert on jobs
    referencing new table as added for each statement execute function count_added_jobs()`,
  `create or replace trigger jobs_removed after delete on jobs
    referencing old table as removed for each statement execute function count_removed_jobs()`,
  `create or replace trigger jobs_changed after update on jobs
    referencing new table as added old table as removed
    for each statement execute function count_changed_jobs()`,
  `insert into job_label_counts (setup, kind, label, ${LABELLED}, n, is_merged)
    select setup, kind, label, ${LABELLED}, count(*), true from jobs, lateral (values ${LABELS}) l (kind, label)
    where label is not null group by setup, kind, label, ${LABELLED}`,
  `insert into job_block_counts (setup, block, ${PLACED}, n, is_merged)
    select setup, ${BLOCK} as block, ${PLACED}, count(*), true from jobs group by setup, block, ${PLACED}`,
];

function labelsOfAdded(kind: string, column: string, which = ''): string {
  return `select setup, '${kind}', ${column}::text, ${LABELLED}, count(*) from added ${which}
    group by ${column}, setup, ${LABELLED}`;
}

function countChanges(name: string, changes: string): string {
  const all = `${TOTALLED}, name, job_group, array_id`;
  return `create or replace function ${name}() returns trigger language plpgsql as $$
    begin
      with changed as materialized (
        select ${BLOCK} as block, ${all}, sum(n) as n
        from (${changes}) c group by block, ${all} having sum(n) <> 0
      ), totals as (
        insert into job_totals (${TOTALLED}, n)
        select ${TOTALLED}, sum(n) from changed group by ${TOTALLED} having sum(n) <> 0
      ), labels as (
        insert into job_label_counts (setup, kind, label, ${LABELLED}, n)
        select setup, kind, label, ${LABELLED}, sum(n)
        from changed, lateral (values ${LABELS}) l (kind, label)
        where label is not null
        group by setup, kind, label, ${LABELLED} having sum(n) <> 0
      )
      insert into job_block_counts (setup, block, ${PLACED}, n)
        select setup, block, ${PLACED}, sum(n) from changed group by setup, block, ${PLACED} having sum(n) <> 0;
      return null;
    end $$`;
}

const IS_QUEUED = `status = 'Waiting' and executor is null and held_by is null`;
const NO_SITES = 'No candidate sites available';

/**
 * The queue is ordered by owners first: whatever one of them asks for, all others are found in one step each. Jobs that were found to
 * fit nowhere stand apart, in the same order.
 */
const QUEUE = `
  drop index jobs_queue;
  create index jobs_queue on jobs (owner_group, owner, shape, priority desc, jid)
    where ${IS_QUEUED} and minor_status <> '${NO_SITES}';
  create index jobs_unplaceable on jobs (owner_group, owner, shape, priority desc, jid)
    where ${IS_QUEUED} and minor_status = '${NO_SITES}';
  create table job_shares (
    owner_group text not null,
    owner text not null,
    used double precision not null,
    held integer not null,
    running integer not null,
    as_of timestamptz(3) not null,
    primary key (owner_group, owner)
  ) with (fillfactor = 50);
`;

const RUNS = `
  -- Why the cluster of an executor cannot be reached.
  alter table job_executors add column fault text;
  -- Parts of files of running jobs that are asked for. Not logged: a request of this moment waits for them.
  drop table job_peeks;
  create unlogged table job_output_reads (
    id bigint generated always as identity primary key,
    jid bigint not null,
    name text not null,
    wanted_from bigint not null,
    most_bytes integer not null,
    expires_at timestamptz(3) not null,
    answered_at timestamptz(3),
    size_bytes bigint,
    file text,
    modified_ms double precision,
    content_from bigint,
    content bytea
  );

  -- What tokens of jobs may be, and the runs that have been given some.
  create table job_token_rights (
    id text primary key,
    delegation json not null
  );
  create table job_run_tokens (
    jid bigint not null,
    attempt integer not null,
    token_right text not null,
    primary key (jid, attempt)
  );

  -- What runs have used: each for a while, and for good as sums of days.
  create table job_runs (
    jid bigint not null,
    attempt integer not null,
    noted_at timestamptz(3) not null,
    ended_at timestamptz(3) not null,
    setup text not null,
    vo text not null,
    owner_group text not null,
    owner text not null,
    site text not null,
    job_group text not null default '',
    is_done boolean not null,
    processors integer not null,
    wall_seconds double precision not null,
    cpu_seconds double precision,
    used_mb double precision,
    given_mb double precision,
    primary key (jid, attempt)
  );
  create table job_usage (
    setup text not null,
    day date not null,
    vo text not null,
    owner_group text not null,
    owner text not null,
    site text not null,
    job_group text not null default '',
    runs bigint not null,
    done bigint not null,
    wall_seconds double precision not null,
    processor_seconds double precision not null,
    cpu_seconds double precision not null,
    measured_seconds double precision not null,
    memory_seconds double precision not null,
    memory_used double precision not null,
    memory_given double precision not null,
    primary key (setup, day, vo, owner_group, owner, site, job_group)
  ) with (fillfactor = 70);
  create index job_usage_groups on job_usage (day) where job_group <> '';
`;

const IS_FINAL = `in ('Done', 'Failed', 'Killed', 'Deleted')`;

/**
 * Jobs that wait for jobs. News is written in the transaction that makes it, once for each owner of jobs that wait: whoever has millions
 * of conditions holds up their own jobs only.
 */
const DEPENDENCIES = `
  create table job_dependencies (
    id bigint generated always as identity primary key,
    jid bigint not null,
    target bigint not null,
    condition text not null,
    outcome text,
    owner text not null default ''
  );
  create unique index job_dependencies_of on job_dependencies (jid, target, condition);
  create index job_dependencies_open on job_dependencies (target, owner, id) where outcome is null;
  create table job_dependency_news (
    id bigint generated always as identity primary key,
    jid bigint not null,
    what text not null,
    upto bigint not null,
    owner text not null default ''
  );
  create index job_dependency_news_owner on job_dependency_news (owner, id);

  create function job_dependency_ended() returns trigger language plpgsql as $$
    begin
      insert into job_dependency_news (jid, what, upto, owner)
      with recursive waiting as (
        (select d.owner from job_dependencies d where d.target = new.jid and d.outcome is null
          order by d.owner limit 1)
        union all
        select next.owner from waiting w cross join lateral (
          select d.owner from job_dependencies d
          where d.target = new.jid and d.outcome is null and d.owner > w.owner order by d.owner limit 1) as next
      )
      select new.jid, new.status, last.id, w.owner from waiting w cross join lateral (
        select d.id from job_dependencies d
        where d.target = new.jid and d.outcome is null and d.owner = w.owner order by d.id desc limit 1) as last;
      return null;
    end $$;
  create trigger jobs_dependency_ended after update of status on jobs for each row
    when (new.status ${IS_FINAL} and old.status not ${IS_FINAL})
    execute function job_dependency_ended();

  -- Who reschedules a job whose condition could not come true waits for other jobs again; a hold by people is not ended so.
  create function job_dependency_again() returns trigger language plpgsql as $$
    begin
      if exists (select from job_dependencies d where d.jid = new.jid and d.outcome is distinct from 'met') then
        insert into job_dependency_news (jid, what, upto, owner) values (new.jid, 'again', 0, new.owner);
      elsif old.held_by = 'jobs' then
        new.held_by := null;
      end if;
      return new;
    end $$;
  create trigger jobs_dependency_again before update of status on jobs for each row
    when (old.status = 'Failed' and new.status not ${IS_FINAL} and old.held_by is not null)
    execute function job_dependency_again();
`;

const DATA = `
  -- Bytes at storage elements that belong to no file: those that arrive for a path, which is nobody else's until they are registered or
  -- their time is over, and those that are to be removed. For a run or, without jid, for a user.
  create table catalogue_bytes (
    id bigint generated always as identity primary key,
    -- of bytes that arrive as far as it is known
    size bigint,
    jid bigint,
    made_at timestamptz not null default now(),
    -- when bytes that arrive are removed, when the next attempt to remove them is made
    due_at timestamptz not null,
    owner_id integer not null,
    se_id integer not null,
    attempt integer,
    tries integer not null default 0,
    -- how often they are still to be removed before their path is free: none were let in, they had arrived, or they may come late
    removals smallint not null default 0,
    state text not null check (state in ('arriving', 'removing')),
    path text collate "C" not null,
    md5 text,
    fault text,
    -- of those of a run: what they are to be, and when they were looked at and are so
    adler32 text,
    sha256 text,
    arrived_at timestamptz,
    -- until then one request works at their place alone
    worked_until timestamptz,
    -- a late removal never meets the bytes of a later upload
    unique (path, se_id)
  );
  create unique index catalogue_bytes_reserved on catalogue_bytes (path) where state = 'arriving';
  create index catalogue_bytes_due on catalogue_bytes (se_id, due_at);
  create index catalogue_bytes_owner on catalogue_bytes (owner_id) where jid is null;
  create index catalogue_bytes_run on catalogue_bytes (jid, attempt) where jid is not null;
  alter table catalogue_file
    add column sha256 text,
    -- numbers of the storage elements whose bytes came through this service
    add column stored integer[];
  create index catalogue_file_stored on catalogue_file (directory_id) where stored is not null;
`;

const EVENTS = `
  -- What has changed, for feeds and webhooks: a row for each statement that changed something, numbered once it is committed. Numbers
  -- are given by source.
  create table event_log (
    id bigint generated always as identity primary key,
    source text not null,
    xact bigint not null,
    written_at timestamptz(3) not null,
    n integer not null,
    events json not null,
    last bigint
  ) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
  -- Events of a bulk are over 2 kB and therefore compressed; lz4 takes a fifth of the time of pglz for it. A PostgreSQL that was built
  -- without lz4, like the one that comes with the package, goes on with pglz.
  do $$ begin
    alter table event_log alter events set compression lz4;
  exception when feature_not_supported then null;
  end $$;
  create index event_log_fresh on event_log (source, xact) where last is null;
  create unique index event_log_last on event_log (source, last) where last is not null;
  create table event_positions (
    source text primary key,
    position bigint not null default 0,
    floor bigint not null default 0,
    gone bigint not null default 0
  ) with (fillfactor = 10);
  insert into event_positions (source) values ('jobs'), ('filecatalogue');

  create table webhook (
    id uuid primary key,
    user_name text not null,
    group_name text not null,
    setup text not null,
    client_id text not null,
    scope text not null,
    url text not null,
    source text not null,
    filter jsonb not null,
    description text not null default '',
    secret text not null,
    previous_secret text,
    previous_until timestamptz,
    enabled boolean not null default true,
    disabled_reason text,
    disabled_at timestamptz,
    position bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- whether it did not answer its latest attempt: such ones have fewer attempts at once
    silent boolean not null default false
  ) with (fillfactor = 70);
  create index webhook_owner on webhook (user_name, group_name, setup);
  create index webhook_position on webhook (source, position) where enabled;
  create table webhook_delivery (
    number bigint generated always as identity primary key,
    id uuid not null,
    webhook_id uuid not null references webhook on delete cascade,
    type text not null,
    subject text not null,
    in_order boolean not null,
    body text not null,
    rights jsonb not null,
    state text not null default 'waiting',
    created_at timestamptz not null,
    attempts integer not null default 0,
    tried_since timestamptz,
    next_attempt timestamptz not null,
    claimed_until timestamptz,
    finished_at timestamptz,
    status integer,
    error text
  ) with (fillfactor = 70);
  create unique index webhook_delivery_id on webhook_delivery (webhook_id, id);
  create index webhook_delivery_number on webhook_delivery (webhook_id, number);
  create index webhook_delivery_waiting on webhook_delivery (webhook_id, subject, number) where state = 'waiting';
  create index webhook_delivery_due on webhook_delivery (webhook_id, next_attempt) where state = 'waiting';
  create index webhook_delivery_claimed on webhook_delivery (claimed_until)
    where state = 'waiting' and claimed_until is not null;
  create index webhook_delivery_finished on webhook_delivery (finished_at) where state <> 'waiting';

  -- Ids of audit events begin with the time: their order is that of time, too.
  create table audit_events (
    id uuid primary key,
    time timestamptz(3) not null,
    instance text not null,
    event text not null,
    outcome text not null,
    user_name text,
    group_name text,
    client_id text,
    details jsonb not null
  );
  create index audit_events_event on audit_events (event, id);
  create index audit_events_who on audit_events (coalesce(user_name, details ->> 'account'), id);
  create index audit_events_refused on audit_events (id) where outcome = 'refused';
`;
