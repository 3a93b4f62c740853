import type { QueryRunner } from 'typeorm';

/**
 * The tables of version 0.1.0. Its databases have this name as the last of nine in their list of migrations. Functions and triggers
 * that count jobs stand in the next step, which replaced them.
 */
export class PlaceSegments1763600100081 {
  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [REGISTRY, AUTHORIZATION, JOBS, CATALOGUE]) await runner.query(sql);
    for (const table of WATCHED) {
      await runner.query(`
        create trigger ${table}_changed after insert or update or delete or truncate on ${table}
          for each statement execute function registry_changed()`);
    }
  }
}
/** A change of these raises the version of the registry and tells every instance. */
const WATCHED = [
  'registry_user',
  'registry_certificate',
  'registry_subject',
  'registry_group',
  'registry_member',
  'registry_setup',
  'registry_application',
  'registry_storage_element',
  'registry_site',
];

const REGISTRY = `
  create table registry_state (
    id smallint primary key default 1 check (id = 1),
    version bigint not null
  );
  insert into registry_state (version) values (1);

  create table registry_user (
    name text primary key,
    position integer not null
  );
  create table registry_certificate (
    dn text primary key,
    user_name text not null references registry_user (name) on delete cascade,
    position integer not null
  );
  create index registry_certificate_user on registry_certificate (user_name);
  create table registry_subject (
    issuer text not null,
    sub text not null,
    user_name text not null references registry_user (name) on delete cascade,
    position integer not null,
    primary key (issuer, sub)
  );
  create index registry_subject_user on registry_subject (user_name);

  create table registry_group (
    name text primary key,
    position integer not null,
    vo text,
    properties text[] not null,
    idp_scopes text[] not null,
    idp_role text
  );
  create table registry_member (
    group_name text not null references registry_group (name) on delete cascade,
    user_name text not null references registry_user (name) on delete cascade,
    position integer not null,
    primary key (group_name, user_name)
  );
  create index registry_member_user on registry_member (user_name);

  create table registry_setup (
    name text primary key,
    position integer not null,
    groups text[]
  );
  create table registry_application (
    id text primary key,
    position integer not null,
    name text not null,
    redirect_uris text[] not null,
    confidential boolean not null,
    secret_hash text,
    origin text not null check (origin in ('file', 'command')),
    created_at timestamptz not null default now()
  );
  create table registry_storage_element (
    name text primary key,
    position integer not null,
    description text
  );
  create table registry_site (
    name text primary key,
    position integer not null,
    backend text not null check (backend in ('local-process', 'slurm')),
    options jsonb not null,
    setups text[],
    slots integer check (slots > 0)
  );

  create function registry_changed() returns trigger language plpgsql as $$
  begin
    update registry_state set version = version + 1;
    perform pg_notify('registry', '');
    return null;
  end $$;
`;

const AUTHORIZATION = `
  create table signing_key (
    kid text primary key,
    algorithm text not null check (algorithm in ('ES256', 'EdDSA')),
    public_jwk jsonb not null,
    private_key text not null,
    created_at timestamptz not null,
    active_from timestamptz,
    longest_ttl integer not null
  );
  create unique index signing_key_next on signing_key ((true)) where active_from is null;

  create table revoked_token (
    id text primary key,
    expires_at timestamptz not null
  );
  create index revoked_token_expiry on revoked_token (expires_at);

  create table login_session (
    state_hash text primary key,
    record jsonb not null,
    browser text,
    return_to text,
    expires_at timestamptz not null
  );
  create index login_session_expiry on login_session (expires_at);

  create table browser_session (
    id_hash text primary key,
    user_name text,
    method text,
    csrf_token text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null
  );
  create index browser_session_expiry on browser_session (expires_at);

  create table authorization_grant (
    id text primary key,
    user_name text not null,
    client_id text not null,
    group_name text not null,
    setup text not null,
    scope text not null,
    created_at timestamptz not null,
    used_at timestamptz not null,
    expires_at timestamptz not null,
    revoked_at timestamptz
  );
  create index authorization_grant_user on authorization_grant (user_name, client_id);
  create index authorization_grant_expiry on authorization_grant (expires_at);

  create table authorization_code (
    code_hash text primary key,
    grant_id text not null references authorization_grant (id) on delete cascade,
    redirect_uri text,
    code_challenge text,
    expires_at timestamptz not null,
    used_at timestamptz
  );
  create index authorization_code_grant on authorization_code (grant_id);

  create table refresh_token (
    token_hash text primary key,
    grant_id text not null references authorization_grant (id) on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    successor_seed text
  );
  create index refresh_token_grant on refresh_token (grant_id);
  create index refresh_token_expiry on refresh_token (expires_at);

  create table device_authorization (
    device_code_hash text primary key,
    user_code text not null unique,
    client_id text not null,
    scope text,
    group_name text,
    setup text,
    grant_id text references authorization_grant (id) on delete cascade,
    status text not null check (status in ('pending', 'allowed', 'denied', 'used')),
    interval_seconds integer not null,
    polled_at timestamptz,
    expires_at timestamptz not null
  );
  create index device_authorization_expiry on device_authorization (expires_at);

  create table stored_token (
    id text primary key,
    sealed text not null,
    expires_at timestamptz not null
  );
  create index stored_token_expiry on stored_token (expires_at);
`;

const JOBS = `
  create table jobs (
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
  ) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);

  comment on column jobs.executor is
    'who holds something of the job that must be looked after: a claim, a run, or a run to be ended';

  create table job_descriptions (
    jid bigint primary key,
    manifest json not null
  );

  create table job_history (
    id bigint generated always as identity primary key,
    jid bigint not null,
    status text not null,
    minor_status text not null,
    app_status text not null,
    time timestamptz(3) not null,
    source text not null
  );

  create table job_parameters (
    jid bigint primary key,
    parameters jsonb not null
  );

  create table job_sandboxes (
    hash text primary key,
    size_bytes bigint not null,
    files json not null,
    used_at timestamptz(3) not null
  );

  create table job_idempotency_keys (
    owner text not null,
    owner_group text not null,
    setup text not null,
    key text not null,
    body_hash text not null,
    answer json not null,
    created_at timestamptz(3) not null,
    primary key (owner, owner_group, setup, key)
  );

  create table job_executors (
    executor text primary key,
    instance text not null,
    backend text not null,
    seen_at timestamptz(3) not null
  );

  create table job_peeks (
    jid bigint primary key,
    asked_at timestamptz(3) not null,
    answered_at timestamptz(3),
    stdout text not null default '',
    stderr text not null default ''
  );

  create index jobs_setup on jobs (setup, jid);

  create index jobs_owner on jobs (setup, owner, jid);

  create index jobs_owner_group on jobs (setup, owner_group, jid);

  create index jobs_status on jobs (setup, status, jid);

  create index jobs_site on jobs (setup, site, jid);

  create index jobs_name on jobs (setup, name, jid);

  create index jobs_job_group on jobs (setup, job_group, jid);

  create index jobs_last_update on jobs (setup, last_update, jid);

  create index jobs_queue on jobs (site, priority desc, jid)
    where status = 'Waiting' and executor is null;

  create index jobs_admission on jobs (jid) where status in ('Received', 'Checking');

  create index jobs_executor on jobs (executor) where executor is not null;

  create index jobs_input_sandbox on jobs (input_sandbox) where input_sandbox is not null;

  create index jobs_output_sandbox on jobs (output_sandbox) where output_sandbox is not null;

  create index job_history_jid on job_history (jid, id);

  create index job_sandboxes_used_at on job_sandboxes (used_at);

  create index job_idempotency_keys_created_at on job_idempotency_keys (created_at);

  -- Counters of jobs are sums over rows that are only ever added, in the transaction that changes the jobs: they are exact under every
  -- snapshot, and writers never wait for each other. A background task merges the rows. There are three, so that each question
  -- sums few rows: totals; by name, group and array; and by block of 8192 neighbouring ids, with which deep pages jump.
  create table job_totals (
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
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);

  create table job_label_counts (
    setup text not null,
    kind text not null check (kind in ('name', 'job_group')),
    label text not null,
    owner text not null,
    owner_group text not null,
    status text not null,
    site text not null,
    n bigint not null,
    is_merged boolean not null default false
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);

  create table job_block_counts (
    setup text not null,
    block integer not null,
    owner text not null,
    status text not null,
    site text not null,
    n bigint not null,
    is_merged boolean not null default false
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);

  create index job_totals_owner on job_totals (setup, owner);

  create index job_totals_fresh on job_totals (setup, owner) where not is_merged;

  create index job_label_counts_label on job_label_counts (setup, kind, label);

  create index job_label_counts_fresh on job_label_counts (setup, kind, label)
    where not is_merged;

  create index job_block_counts_block on job_block_counts (setup, block);

  create index job_block_counts_fresh on job_block_counts (setup, block) where not is_merged;
`;

const CATALOGUE = `
  create type catalogue_span as range (subtype = bytea, multirange_type_name = catalogue_spans);

  -- owners, groups and storage elements as small numbers; rows are never removed
  create table catalogue_name (
    id integer generated always as identity primary key,
    kind text not null check (kind in ('user', 'group', 'se')),
    name text collate "C" not null,
    unique (kind, name)
  );
  insert into catalogue_name (kind, name) values ('user', 'root'), ('group', 'root');

  create table catalogue_field (
    id smallint generated always as identity primary key,
    type text not null check (type in ('int', 'float', 'string', 'date')),
    name text collate "C" not null unique,
    -- how many distinct values it has, so that a capped list costs what it shows
    value_count bigint not null default 0
  );

  create sequence catalogue_directory_id as integer;
  create table catalogue_directory (
    id integer primary key,
    parent integer references catalogue_directory (id),
    sub_files bigint not null default 0,
    created_at timestamptz not null default now(),
    modified_at timestamptz not null default now(),
    next_ordinal integer not null default 0,
    owner_id integer not null,
    group_id integer not null,
    mode smallint not null,
    depth smallint not null,
    -- owner, group or mode differ from the parent's: only here can readability change
    boundary boolean not null,
    -- numeric: the sum of 64-bit sizes may leave 64 bits
    sub_bytes numeric not null default 0,
    label bytea not null unique,
    name text collate "C" not null,
    path text collate "C" not null,
    unique (parent, name)
  ) with (fillfactor = 90);
  -- a hash: paths may be longer than a B-tree entry
  create index catalogue_directory_path on catalogue_directory using hash (path);
  create index catalogue_directory_boundary on catalogue_directory (label) where boundary;
  insert into catalogue_directory (id, parent, owner_id, group_id, mode, depth, boundary, label, name, path)
    select nextval('catalogue_directory_id'), null, u.id, g.id, 493, 0, true, '\\x00', '', '/'
    from catalogue_name u, catalogue_name g
    where (u.kind, u.name) = ('user', 'root') and (g.kind, g.name) = ('group', 'root');

  -- a value set on a directory holds for [lo, hi), its whole subtree; no two of a field overlap
  create table catalogue_segment (
    int_value bigint,
    float_value double precision,
    directory_id integer not null references catalogue_directory (id),
    field_id smallint not null references catalogue_field (id),
    lo bytea not null,
    hi bytea not null,
    text_value text collate "C",
    primary key (field_id, lo),
    check (num_nonnulls(int_value, float_value, text_value) = 1)
  );
  create index catalogue_segment_int on catalogue_segment (field_id, int_value, lo) include (hi)
    where int_value is not null;
  create index catalogue_segment_float on catalogue_segment (field_id, float_value, lo) include (hi)
    where float_value is not null;
  create index catalogue_segment_text on catalogue_segment (field_id, text_value, lo) include (hi)
    where text_value is not null;
  create index catalogue_segment_directory on catalogue_segment (directory_id);
  -- what holds at a label stands at the beginnings of the label: compatible values need one probe for each, whatever the fields
  create index catalogue_segment_place on catalogue_segment (lo)
    include (hi, field_id, int_value, float_value, text_value);

  -- the distinct values of each field with the number of their segments
  create table catalogue_value (
    int_value bigint,
    float_value double precision,
    segments bigint not null check (segments > 0),
    field_id smallint not null references catalogue_field (id),
    text_value text collate "C"
  );
  create unique index catalogue_value_int on catalogue_value (field_id, int_value)
    where int_value is not null;
  create unique index catalogue_value_float on catalogue_value (field_id, float_value)
    where float_value is not null;
  create unique index catalogue_value_text on catalogue_value (field_id, text_value)
    where text_value is not null;

  create sequence catalogue_file_id;
  -- no foreign key to the directory: writers hold its row while they register
  create table catalogue_file (
    id bigint not null default nextval('catalogue_file_id'),
    size bigint not null check (size >= 0),
    created_at timestamptz not null default now(),
    modified_at timestamptz not null default now(),
    directory_id integer not null,
    owner_id integer not null,
    group_id integer not null,
    mode smallint not null,
    name text collate "C" not null,
    checksum text,
    checksum_type text,
    guid text,
    -- {storage element number: PFN or null}
    replicas jsonb,
    metadata jsonb,
    primary key (directory_id, name)
  );

  -- changes of totals not yet added to catalogue_directory; the exact total is both together
  create table catalogue_delta (
    files bigint not null,
    directory_id integer not null,
    bytes numeric not null
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
  create index catalogue_delta_directory on catalogue_delta (directory_id);
`;
