-- What a service of version 0.1.0 left in its database: made with its code and pg_dump --inserts, without its signing keys.


SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE TYPE public.catalogue_span AS RANGE (
    subtype = bytea,
    multirange_type_name = public.catalogue_spans
);

CREATE FUNCTION public.count_added_jobs() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      with changed as materialized (
        select setup, (jid >> 13)::integer as block, name, job_group, owner, owner_group, vo, status,
          minor_status, site, job_type, sum(n) as n
        from (select *, 1 as n from added) c group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 having sum(n) <> 0
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
    end $$;

CREATE FUNCTION public.count_changed_jobs() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      with changed as materialized (
        select setup, (jid >> 13)::integer as block, name, job_group, owner, owner_group, vo, status,
          minor_status, site, job_type, sum(n) as n
        from (select *, 1 as n from added union all select *, -1 as n from removed) c group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 having sum(n) <> 0
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
    end $$;

CREATE FUNCTION public.count_removed_jobs() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      with changed as materialized (
        select setup, (jid >> 13)::integer as block, name, job_group, owner, owner_group, vo, status,
          minor_status, site, job_type, sum(n) as n
        from (select *, -1 as n from removed) c group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 having sum(n) <> 0
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
    end $$;

CREATE FUNCTION public.registry_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  begin
    update registry_state set version = version + 1;
    perform pg_notify('registry', '');
    return null;
  end $$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.authorization_code (
    code_hash text NOT NULL,
    grant_id text NOT NULL,
    redirect_uri text,
    code_challenge text,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);

CREATE TABLE public.authorization_grant (
    id text NOT NULL,
    user_name text NOT NULL,
    client_id text NOT NULL,
    group_name text NOT NULL,
    setup text NOT NULL,
    scope text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone
);

CREATE TABLE public.browser_session (
    id_hash text NOT NULL,
    user_name text,
    method text,
    csrf_token text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.catalogue_delta (
    files bigint NOT NULL,
    directory_id integer NOT NULL,
    bytes numeric NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');

CREATE TABLE public.catalogue_directory (
    id integer NOT NULL,
    parent integer,
    sub_files bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    modified_at timestamp with time zone DEFAULT now() NOT NULL,
    next_ordinal integer DEFAULT 0 NOT NULL,
    owner_id integer NOT NULL,
    group_id integer NOT NULL,
    mode smallint NOT NULL,
    depth smallint NOT NULL,
    boundary boolean NOT NULL,
    sub_bytes numeric DEFAULT 0 NOT NULL,
    label bytea NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C"
)
WITH (fillfactor='90');

CREATE SEQUENCE public.catalogue_directory_id
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.catalogue_field (
    id smallint NOT NULL,
    type text NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    value_count bigint DEFAULT 0 NOT NULL,
    CONSTRAINT catalogue_field_type_check CHECK ((type = ANY (ARRAY['int'::text, 'float'::text, 'string'::text, 'date'::text])))
);

ALTER TABLE public.catalogue_field ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.catalogue_field_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE public.catalogue_file_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.catalogue_file (
    id bigint DEFAULT nextval('public.catalogue_file_id'::regclass) NOT NULL,
    size bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    modified_at timestamp with time zone DEFAULT now() NOT NULL,
    directory_id integer NOT NULL,
    owner_id integer NOT NULL,
    group_id integer NOT NULL,
    mode smallint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    checksum text,
    checksum_type text,
    guid text,
    replicas jsonb,
    metadata jsonb,
    CONSTRAINT catalogue_file_size_check CHECK ((size >= 0))
);

CREATE TABLE public.catalogue_name (
    id integer NOT NULL,
    kind text NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT catalogue_name_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'group'::text, 'se'::text])))
);

ALTER TABLE public.catalogue_name ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.catalogue_name_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.catalogue_segment (
    int_value bigint,
    float_value double precision,
    directory_id integer NOT NULL,
    field_id smallint NOT NULL,
    lo bytea NOT NULL,
    hi bytea NOT NULL,
    text_value text COLLATE pg_catalog."C",
    CONSTRAINT catalogue_segment_check CHECK ((num_nonnulls(int_value, float_value, text_value) = 1))
);

CREATE TABLE public.catalogue_value (
    int_value bigint,
    float_value double precision,
    segments bigint NOT NULL,
    field_id smallint NOT NULL,
    text_value text COLLATE pg_catalog."C",
    CONSTRAINT catalogue_value_segments_check CHECK ((segments > 0))
);

CREATE TABLE public.device_authorization (
    device_code_hash text NOT NULL,
    user_code text NOT NULL,
    client_id text NOT NULL,
    scope text,
    group_name text,
    setup text,
    grant_id text,
    status text NOT NULL,
    interval_seconds integer NOT NULL,
    polled_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT device_authorization_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'allowed'::text, 'denied'::text, 'used'::text])))
);

CREATE TABLE public.job_block_counts (
    setup text NOT NULL,
    block integer NOT NULL,
    owner text NOT NULL,
    status text NOT NULL,
    site text NOT NULL,
    n bigint NOT NULL,
    is_merged boolean DEFAULT false NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='500');

CREATE TABLE public.job_descriptions (
    jid bigint NOT NULL,
    manifest json NOT NULL
);

CREATE TABLE public.job_executors (
    executor text NOT NULL,
    instance text NOT NULL,
    backend text NOT NULL,
    seen_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.job_history (
    id bigint NOT NULL,
    jid bigint NOT NULL,
    status text NOT NULL,
    minor_status text NOT NULL,
    app_status text NOT NULL,
    "time" timestamp(3) with time zone NOT NULL,
    source text NOT NULL
);

ALTER TABLE public.job_history ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.job_history_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.job_idempotency_keys (
    owner text NOT NULL,
    owner_group text NOT NULL,
    setup text NOT NULL,
    key text NOT NULL,
    body_hash text NOT NULL,
    answer json NOT NULL,
    created_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.job_label_counts (
    setup text NOT NULL,
    kind text NOT NULL,
    label text NOT NULL,
    owner text NOT NULL,
    owner_group text NOT NULL,
    status text NOT NULL,
    site text NOT NULL,
    n bigint NOT NULL,
    is_merged boolean DEFAULT false NOT NULL,
    CONSTRAINT job_label_counts_kind_check CHECK ((kind = ANY (ARRAY['name'::text, 'job_group'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='500');

CREATE TABLE public.job_parameters (
    jid bigint NOT NULL,
    parameters jsonb NOT NULL
);

CREATE TABLE public.job_peeks (
    jid bigint NOT NULL,
    asked_at timestamp(3) with time zone NOT NULL,
    answered_at timestamp(3) with time zone,
    stdout text DEFAULT ''::text NOT NULL,
    stderr text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.job_sandboxes (
    hash text NOT NULL,
    size_bytes bigint NOT NULL,
    files json NOT NULL,
    used_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.job_totals (
    setup text NOT NULL,
    owner text NOT NULL,
    owner_group text NOT NULL,
    vo text NOT NULL,
    status text NOT NULL,
    minor_status text NOT NULL,
    site text NOT NULL,
    job_type text NOT NULL,
    n bigint NOT NULL,
    is_merged boolean DEFAULT false NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='500');

CREATE TABLE public.jobs (
    jid bigint NOT NULL,
    setup text NOT NULL,
    owner text NOT NULL,
    owner_dn text NOT NULL,
    owner_group text NOT NULL,
    vo text NOT NULL,
    status text NOT NULL,
    minor_status text NOT NULL,
    app_status text DEFAULT 'Unknown'::text NOT NULL,
    name text NOT NULL,
    job_group text NOT NULL,
    job_type text NOT NULL,
    site text NOT NULL,
    priority integer NOT NULL,
    cpu_time integer NOT NULL,
    reschedules integer DEFAULT 0 NOT NULL,
    wanted_sites text[] DEFAULT '{}'::text[] NOT NULL,
    banned_sites text[] DEFAULT '{}'::text[] NOT NULL,
    verified boolean DEFAULT false NOT NULL,
    retrieved boolean DEFAULT false NOT NULL,
    accounted boolean DEFAULT false NOT NULL,
    input_sandbox text,
    output_sandbox text,
    submission_time timestamp(3) with time zone NOT NULL,
    last_update timestamp(3) with time zone NOT NULL,
    heart_beat timestamp(3) with time zone,
    start_execution timestamp(3) with time zone,
    end_execution timestamp(3) with time zone,
    reschedule_time timestamp(3) with time zone,
    executor text,
    attempt integer DEFAULT 0 NOT NULL,
    run_reference text
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.05');

COMMENT ON COLUMN public.jobs.executor IS 'who holds something of the job that must be looked after: a claim, a run, or a run to be ended';

ALTER TABLE public.jobs ALTER COLUMN jid ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.jobs_jid_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.login_session (
    state_hash text NOT NULL,
    record jsonb NOT NULL,
    browser text,
    return_to text,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.migrations (
    id integer NOT NULL,
    "timestamp" bigint NOT NULL,
    name character varying NOT NULL
);

CREATE SEQUENCE public.migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.migrations_id_seq OWNED BY public.migrations.id;

CREATE TABLE public.refresh_token (
    token_hash text NOT NULL,
    grant_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    successor_seed text
);

CREATE TABLE public.registry_application (
    id text NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    redirect_uris text[] NOT NULL,
    confidential boolean NOT NULL,
    secret_hash text,
    origin text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT registry_application_origin_check CHECK ((origin = ANY (ARRAY['file'::text, 'command'::text])))
);

CREATE TABLE public.registry_certificate (
    dn text NOT NULL,
    user_name text NOT NULL,
    "position" integer NOT NULL
);

CREATE TABLE public.registry_group (
    name text NOT NULL,
    "position" integer NOT NULL,
    vo text,
    properties text[] NOT NULL,
    idp_scopes text[] NOT NULL,
    idp_role text
);

CREATE TABLE public.registry_member (
    group_name text NOT NULL,
    user_name text NOT NULL,
    "position" integer NOT NULL
);

CREATE TABLE public.registry_setup (
    name text NOT NULL,
    "position" integer NOT NULL,
    groups text[]
);

CREATE TABLE public.registry_site (
    name text NOT NULL,
    "position" integer NOT NULL,
    backend text NOT NULL,
    options jsonb NOT NULL,
    setups text[],
    slots integer,
    CONSTRAINT registry_site_backend_check CHECK ((backend = ANY (ARRAY['local-process'::text, 'slurm'::text]))),
    CONSTRAINT registry_site_slots_check CHECK ((slots > 0))
);

CREATE TABLE public.registry_state (
    id smallint DEFAULT 1 NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT registry_state_id_check CHECK ((id = 1))
);

CREATE TABLE public.registry_storage_element (
    name text NOT NULL,
    "position" integer NOT NULL,
    description text
);

CREATE TABLE public.registry_subject (
    issuer text NOT NULL,
    sub text NOT NULL,
    user_name text NOT NULL,
    "position" integer NOT NULL
);

CREATE TABLE public.registry_user (
    name text NOT NULL,
    "position" integer NOT NULL
);

CREATE TABLE public.revoked_token (
    id text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.signing_key (
    kid text NOT NULL,
    algorithm text NOT NULL,
    public_jwk jsonb NOT NULL,
    private_key text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    active_from timestamp with time zone,
    longest_ttl integer NOT NULL,
    CONSTRAINT signing_key_algorithm_check CHECK ((algorithm = ANY (ARRAY['ES256'::text, 'EdDSA'::text])))
);

CREATE TABLE public.stored_token (
    id text NOT NULL,
    sealed text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.migrations ALTER COLUMN id SET DEFAULT nextval('public.migrations_id_seq'::regclass);

INSERT INTO public.catalogue_directory VALUES
	(3, 2, 2, '2026-11-22 06:14:08.856239+00', '2026-11-22 06:14:38.284618+00', 1, 3, 4, 509, 2, false, 5555, '\x000000', 'a', '/vo/a'),
	(4, 3, 2, '2026-11-22 06:14:09.01365+00', '2026-11-22 06:14:09.01365+00', 0, 3, 4, 509, 3, false, 5555, '\x00000000', 'run1', '/vo/a/run1'),
	(2, 1, 2, '2026-11-22 06:14:08.716531+00', '2026-11-22 06:14:08.716531+00', 1, 3, 4, 509, 1, true, 5555, '\x0000', 'vo', '/vo'),
	(1, NULL, 2, '2026-11-22 06:13:32.688137+00', '2026-11-22 06:13:32.688137+00', 1, 1, 2, 493, 0, true, 5555, '\x00', '', '/');

INSERT INTO public.catalogue_field OVERRIDING SYSTEM VALUE VALUES
	(1, 'int', 'energy', 1);

INSERT INTO public.catalogue_file VALUES
	(1, 1234, '2026-11-22 06:14:38.466492+00', '2026-11-22 06:14:38.466492+00', 4, 3, 4, 509, 'f1', 'ad:1', 'Adler32', NULL, NULL, NULL),
	(2, 4321, '2026-11-22 06:14:38.640554+00', '2026-11-22 06:14:38.640554+00', 4, 3, 4, 509, 'f2', NULL, NULL, NULL, NULL, NULL);

INSERT INTO public.catalogue_name OVERRIDING SYSTEM VALUE VALUES
	(1, 'user', 'root'),
	(2, 'group', 'root'),
	(3, 'user', 'fred'),
	(4, 'group', 'grid_fc');

INSERT INTO public.catalogue_segment VALUES
	(40, NULL, 3, 1, '\x000000', '\x000001', NULL);

INSERT INTO public.catalogue_value VALUES
	(40, NULL, 1, 1, NULL);

INSERT INTO public.job_block_counts VALUES
	('Prod', 0, 'alice', 'Done', 'LOCAL.demo', 4, true),
	('Prod', 0, 'alice', 'Waiting', 'ANY', 1, false);

INSERT INTO public.job_descriptions VALUES
	(1, '{"Executable":"/bin/cat","Arguments":"in.txt","InputSandbox":["in.txt"],"JobName":"first","NumberOfProcessors":"3","MaxRAM":"4096","StdOutput":"std.out","StdError":"std.err","OutputSandbox":["std.out","std.err"],"Owner":"alice","OwnerGroup":"grid_user","OwnerDN":"/DC=org/DC=grid/CN=alice","VirtualOrganization":"vo","Setup":"Prod","JobGroup":"00000000","JobType":"User","Priority":1,"CPUTime":86400,"JobID":1}'),
	(2, '{"Executable":"/bin/echo","Arguments":"run a","JobName":"sweep_0","StdOutput":"std.out","StdError":"std.err","OutputSandbox":["std.out","std.err"],"Owner":"alice","OwnerGroup":"grid_user","OwnerDN":"/DC=org/DC=grid/CN=alice","VirtualOrganization":"vo","Setup":"Prod","JobGroup":"00000000","JobType":"User","Priority":1,"CPUTime":86400,"JobID":2}'),
	(3, '{"Executable":"/bin/echo","Arguments":"run b","JobName":"sweep_1","MinNumberOfProcessors":2,"StdOutput":"std.out","StdError":"std.err","OutputSandbox":["std.out","std.err"],"Owner":"alice","OwnerGroup":"grid_user","OwnerDN":"/DC=org/DC=grid/CN=alice","VirtualOrganization":"vo","Setup":"Prod","JobGroup":"00000000","JobType":"User","Priority":1,"CPUTime":86400,"JobID":3}'),
	(4, '{"Executable":"/bin/echo","Arguments":"run c","JobName":"sweep_2","StdOutput":"std.out","StdError":"std.err","OutputSandbox":["std.out","std.err"],"Owner":"alice","OwnerGroup":"grid_user","OwnerDN":"/DC=org/DC=grid/CN=alice","VirtualOrganization":"vo","Setup":"Prod","JobGroup":"00000000","JobType":"User","Priority":1,"CPUTime":86400,"JobID":4}'),
	(5, '{"Executable":"/bin/echo","Arguments":"after the upgrade","JobName":"waits","StdOutput":"std.out","StdError":"std.err","OutputSandbox":["std.out","std.err"],"Owner":"alice","OwnerGroup":"grid_user","OwnerDN":"/DC=org/DC=grid/CN=alice","VirtualOrganization":"vo","Setup":"Prod","JobGroup":"00000000","JobType":"User","Priority":1,"CPUTime":86400,"JobID":5}');

INSERT INTO public.job_executors VALUES
	('local:459e4208-330a-46e0-9039-0ebba13bbd53', '07d546fc-b793-46ce-86da-dd3967f99e1b', 'local-process', '2026-11-22 06:14:36.705+00');

INSERT INTO public.job_history OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'Received', 'Job accepted', 'Unknown', '2026-11-22 06:14:08.23+00', 'REST'),
	(2, 1, 'Checking', 'InputData optimizer', 'Unknown', '2026-11-22 06:14:08.23+00', 'Optimizer'),
	(3, 1, 'Waiting', 'Pilot Agent Submission', 'Unknown', '2026-11-22 06:14:08.23+00', 'Optimizer'),
	(4, 1, 'Matched', 'Job Received by Agent', 'Unknown', '2026-11-22 06:14:08.255+00', 'Dispatcher'),
	(5, 1, 'Running', 'Application', 'Unknown', '2026-11-22 06:14:08.284+00', 'local-process'),
	(6, 1, 'Completing', 'Resolving Output Sandbox', 'Unknown', '2026-11-22 06:14:08.324+00', 'local-process'),
	(7, 1, 'Completed', 'Output Sandbox Uploaded', 'Unknown', '2026-11-22 06:14:08.324+00', 'local-process'),
	(8, 1, 'Done', 'Execution Complete', 'Unknown', '2026-11-22 06:14:08.324+00', 'local-process'),
	(9, 2, 'Received', 'Job accepted', 'Unknown', '2026-11-22 06:14:08.429+00', 'REST'),
	(10, 2, 'Checking', 'InputData optimizer', 'Unknown', '2026-11-22 06:14:08.429+00', 'Optimizer'),
	(11, 2, 'Waiting', 'Pilot Agent Submission', 'Unknown', '2026-11-22 06:14:08.429+00', 'Optimizer'),
	(12, 3, 'Received', 'Job accepted', 'Unknown', '2026-11-22 06:14:08.429+00', 'REST'),
	(13, 3, 'Checking', 'InputData optimizer', 'Unknown', '2026-11-22 06:14:08.429+00', 'Optimizer'),
	(14, 3, 'Waiting', 'Pilot Agent Submission', 'Unknown', '2026-11-22 06:14:08.429+00', 'Optimizer'),
	(15, 4, 'Received', 'Job accepted', 'Unknown', '2026-11-22 06:14:08.429+00', 'REST'),
	(16, 4, 'Checking', 'InputData optimizer', 'Unknown', '2026-11-22 06:14:08.429+00', 'Optimizer'),
	(17, 4, 'Waiting', 'Pilot Agent Submission', 'Unknown', '2026-11-22 06:14:08.429+00', 'Optimizer'),
	(18, 2, 'Matched', 'Job Received by Agent', 'Unknown', '2026-11-22 06:14:08.435+00', 'Dispatcher'),
	(19, 3, 'Matched', 'Job Received by Agent', 'Unknown', '2026-11-22 06:14:08.435+00', 'Dispatcher'),
	(20, 4, 'Matched', 'Job Received by Agent', 'Unknown', '2026-11-22 06:14:08.435+00', 'Dispatcher'),
	(21, 2, 'Running', 'Application', 'Unknown', '2026-11-22 06:14:08.5+00', 'local-process'),
	(22, 3, 'Running', 'Application', 'Unknown', '2026-11-22 06:14:08.5+00', 'local-process'),
	(23, 4, 'Running', 'Application', 'Unknown', '2026-11-22 06:14:08.576+00', 'local-process'),
	(24, 2, 'Completing', 'Resolving Output Sandbox', 'Unknown', '2026-11-22 06:14:08.691+00', 'local-process'),
	(25, 2, 'Completed', 'Output Sandbox Uploaded', 'Unknown', '2026-11-22 06:14:08.691+00', 'local-process'),
	(26, 2, 'Done', 'Execution Complete', 'Unknown', '2026-11-22 06:14:08.691+00', 'local-process'),
	(27, 3, 'Completing', 'Resolving Output Sandbox', 'Unknown', '2026-11-22 06:14:08.691+00', 'local-process'),
	(28, 3, 'Completed', 'Output Sandbox Uploaded', 'Unknown', '2026-11-22 06:14:08.691+00', 'local-process'),
	(29, 3, 'Done', 'Execution Complete', 'Unknown', '2026-11-22 06:14:08.691+00', 'local-process'),
	(30, 4, 'Completing', 'Resolving Output Sandbox', 'Unknown', '2026-11-22 06:14:08.702+00', 'local-process'),
	(31, 4, 'Completed', 'Output Sandbox Uploaded', 'Unknown', '2026-11-22 06:14:08.702+00', 'local-process'),
	(32, 4, 'Done', 'Execution Complete', 'Unknown', '2026-11-22 06:14:08.702+00', 'local-process'),
	(33, 5, 'Received', 'Job accepted', 'Unknown', '2026-11-22 06:14:50.506+00', 'REST'),
	(34, 5, 'Checking', 'InputData optimizer', 'Unknown', '2026-11-22 06:14:50.506+00', 'Optimizer'),
	(35, 5, 'Waiting', 'Pilot Agent Submission', 'Unknown', '2026-11-22 06:14:50.506+00', 'Optimizer');

INSERT INTO public.job_label_counts VALUES
	('Prod', 'name', 'first', 'alice', 'grid_user', 'Done', 'LOCAL.demo', 1, true),
	('Prod', 'name', 'sweep_0', 'alice', 'grid_user', 'Done', 'LOCAL.demo', 1, true),
	('Prod', 'name', 'sweep_1', 'alice', 'grid_user', 'Done', 'LOCAL.demo', 1, true),
	('Prod', 'job_group', '00000000', 'alice', 'grid_user', 'Done', 'LOCAL.demo', 4, true),
	('Prod', 'name', 'sweep_2', 'alice', 'grid_user', 'Done', 'LOCAL.demo', 1, true),
	('Prod', 'job_group', '00000000', 'alice', 'grid_user', 'Waiting', 'ANY', 1, false),
	('Prod', 'name', 'waits', 'alice', 'grid_user', 'Waiting', 'ANY', 1, false);

INSERT INTO public.job_parameters VALUES
	(1, '{"ExitCode": 0, "HostName": "vm", "BatchSystem": "local-process", "LocalAccount": "nobody", "TotalCPUTime(s)": 0, "WallClockTime(s)": 0.015}'),
	(2, '{"ExitCode": 0, "HostName": "vm", "BatchSystem": "local-process", "LocalAccount": "nobody", "TotalCPUTime(s)": 0, "WallClockTime(s)": 0.009}'),
	(3, '{"ExitCode": 0, "HostName": "vm", "BatchSystem": "local-process", "LocalAccount": "nobody", "TotalCPUTime(s)": 0, "WallClockTime(s)": 0.012}'),
	(4, '{"ExitCode": 0, "HostName": "vm", "BatchSystem": "local-process", "LocalAccount": "nobody", "TotalCPUTime(s)": 0, "WallClockTime(s)": 0.016}');

INSERT INTO public.job_sandboxes VALUES
	('36b3b611575e5c06b33482cf66b5de75c5598e6d087069b943ed0b8a503dd028', 102, '[{"name":"in.txt","size":6}]', '2026-11-22 06:14:08.218+00'),
	('4714cfa8aa60292162c15049249ab1fc8c5bbeeeb6535e2c955d2d0951de5c42', 123, '[{"name":"std.out","size":6},{"name":"std.err","size":0}]', '2026-11-22 06:14:08.317+00'),
	('7bc7a41b178c7a2001c3a8b9785a16d91378f8a9fdcbf5e1064b0941e41da2ae', 122, '[{"name":"std.out","size":6},{"name":"std.err","size":0}]', '2026-11-22 06:14:08.564+00'),
	('b04ad458dd1ba0151d140fde88ccfbbc515e24f23184acdf2fb0150994789d61', 122, '[{"name":"std.out","size":6},{"name":"std.err","size":0}]', '2026-11-22 06:14:08.581+00'),
	('6789f7a5360fbdf31740433beb97dce1b09ae3d00042468be6641598a7224ef4', 122, '[{"name":"std.out","size":6},{"name":"std.err","size":0}]', '2026-11-22 06:14:08.662+00');

INSERT INTO public.job_totals VALUES
	('Prod', 'alice', 'grid_user', 'vo', 'Done', 'Execution Complete', 'LOCAL.demo', 'User', 4, true),
	('Prod', 'alice', 'grid_user', 'vo', 'Waiting', 'Pilot Agent Submission', 'ANY', 'User', 1, false);

INSERT INTO public.jobs OVERRIDING SYSTEM VALUE VALUES
	(2, 'Prod', 'alice', '/DC=org/DC=grid/CN=alice', 'grid_user', 'vo', 'Done', 'Execution Complete', 'Unknown', 'sweep_0', '00000000', 'User', 'LOCAL.demo', 1, 86400, 0, '{}', '{}', true, false, true, NULL, '7bc7a41b178c7a2001c3a8b9785a16d91378f8a9fdcbf5e1064b0941e41da2ae', '2026-11-22 06:14:08.429+00', '2026-11-22 06:14:08.691+00', NULL, '2026-11-22 06:14:08.496+00', '2026-11-22 06:14:08.551+00', NULL, NULL, 1, '6f483868-4446-4239-b56c-6d6fab2ec8ff'),
	(3, 'Prod', 'alice', '/DC=org/DC=grid/CN=alice', 'grid_user', 'vo', 'Done', 'Execution Complete', 'Unknown', 'sweep_1', '00000000', 'User', 'LOCAL.demo', 1, 86400, 0, '{}', '{}', true, false, true, NULL, 'b04ad458dd1ba0151d140fde88ccfbbc515e24f23184acdf2fb0150994789d61', '2026-11-22 06:14:08.429+00', '2026-11-22 06:14:08.691+00', NULL, '2026-11-22 06:14:08.496+00', '2026-11-22 06:14:08.567+00', NULL, NULL, 1, '6f483868-4446-4239-b56c-6d6fab2ec8ff'),
	(4, 'Prod', 'alice', '/DC=org/DC=grid/CN=alice', 'grid_user', 'vo', 'Done', 'Execution Complete', 'Unknown', 'sweep_2', '00000000', 'User', 'LOCAL.demo', 1, 86400, 0, '{}', '{}', true, false, true, NULL, '6789f7a5360fbdf31740433beb97dce1b09ae3d00042468be6641598a7224ef4', '2026-11-22 06:14:08.429+00', '2026-11-22 06:14:08.702+00', NULL, '2026-11-22 06:14:08.563+00', '2026-11-22 06:14:08.643+00', NULL, NULL, 1, '6f483868-4446-4239-b56c-6d6fab2ec8ff'),
	(5, 'Prod', 'alice', '/DC=org/DC=grid/CN=alice', 'grid_user', 'vo', 'Waiting', 'Pilot Agent Submission', 'Unknown', 'waits', '00000000', 'User', 'ANY', 1, 86400, 0, '{}', '{}', true, false, false, NULL, NULL, '2026-11-22 06:14:50.506+00', '2026-11-22 06:14:50.506+00', NULL, NULL, NULL, NULL, NULL, 0, NULL),
	(1, 'Prod', 'alice', '/DC=org/DC=grid/CN=alice', 'grid_user', 'vo', 'Done', 'Execution Complete', 'Unknown', 'first', '00000000', 'User', 'LOCAL.demo', 1, 86400, 0, '{}', '{}', true, true, true, '36b3b611575e5c06b33482cf66b5de75c5598e6d087069b943ed0b8a503dd028', '4714cfa8aa60292162c15049249ab1fc8c5bbeeeb6535e2c955d2d0951de5c42', '2026-11-22 06:14:08.23+00', '2026-11-22 06:14:08.324+00', NULL, '2026-11-22 06:14:08.283+00', '2026-11-22 06:14:08.311+00', NULL, NULL, 1, '6f483868-4446-4239-b56c-6d6fab2ec8ff');

INSERT INTO public.migrations VALUES
	(1, 1763600000001, 'CreateRegistry1763600000001'),
	(2, 1763600000002, 'CreateSigningKeys1763600000002'),
	(3, 1763600000003, 'CreateJobs1763600000003'),
	(4, 1763600000004, 'CreateCatalogue1763600000004'),
	(5, 1763600000005, 'CreateLoginSessions1763600000005'),
	(6, 1763600100001, 'CreateAuthorizations1763600100001'),
	(7, 1763600100010, 'CreateStoredTokens1763600100010'),
	(8, 1763600100080, 'CountFieldValues1763600100080'),
	(9, 1763600100081, 'PlaceSegments1763600100081');

INSERT INTO public.registry_certificate VALUES
	('/DC=org/DC=grid/CN=alice', 'alice', 1),
	('/DC=org/DC=grid/CN=bob', 'bob', 1),
	('/DC=org/DC=grid/CN=adam', 'adam', 1),
	('/DC=org/DC=grid/CN=fred', 'fred', 1);

INSERT INTO public.registry_group VALUES
	('grid_user', 1, 'vo', '{NormalUser}', '{}', NULL),
	('grid_adm', 2, NULL, '{JobAdministrator,ServiceAdministrator}', '{}', NULL),
	('grid_fc', 3, NULL, '{NormalUser,FileCatalogManagement}', '{}', NULL);

INSERT INTO public.registry_member VALUES
	('grid_user', 'alice', 1),
	('grid_user', 'bob', 2),
	('grid_adm', 'adam', 1),
	('grid_fc', 'fred', 1);

INSERT INTO public.registry_setup VALUES
	('Prod', 1, NULL);

INSERT INTO public.registry_site VALUES
	('LOCAL.demo', 1, 'local-process', '{}', NULL, NULL);

INSERT INTO public.registry_state VALUES
	(1, 20);

INSERT INTO public.registry_user VALUES
	('alice', 1),
	('bob', 2),
	('adam', 3),
	('fred', 4);

INSERT INTO public.signing_key VALUES
	('VCcvSn_sq7lt1FJwcXoDqsSzr-1g9LJ6iVIFLP0JFDE', 'ES256', '{"x": "aC0oFf_bxPmvtEkp2wZBuLMwsL5TYt2mPbJd8ROYL1M", "y": "BMxnBs3JJUetIFcyZGKnOJ2EHASEFkM0GX98-IXp0w4", "alg": "ES256", "crv": "P-256", "kid": "VCcvSn_sq7lt1FJwcXoDqsSzr-1g9LJ6iVIFLP0JFDE", "kty": "EC", "use": "sig"}', 'plain.MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB68QMgrxvbmaF/mrpxiMIYkqbGGztwISLBxqsl2NqC6hRANCAARoLSgV/9vE+a+0SSnbBkG4szCwvlNi3aY9sl3xE5gvUwTMZwbNySVHrSBXMmRipzidhBwEhBZDNBl/fPiF6dMO', '2026-11-22 06:13:32.947+00', '2026-11-22 06:13:32.947+00', 86400),
	('FlePl6uUM3k4MtkauEsgh6C2rJf_DYH-ZCOmS7uh6HM', 'ES256', '{"x": "RZ6hhNl_fsPIUzFE-kGS3Cohhy_y0Wq5kdTqVG5m4CU", "y": "trpgUNCEJe8mqhI_B60c4WlJlQBpuh0i8oKcGamnIDE", "alg": "ES256", "crv": "P-256", "kid": "FlePl6uUM3k4MtkauEsgh6C2rJf_DYH-ZCOmS7uh6HM", "kty": "EC", "use": "sig"}', 'plain.MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4w7OEaW+antAHNgW9RcUmKKLymuNfxWbFomrTEaExHyhRANCAARFnqGE2X9+w8hTMUT6QZLcKiGHL/LRarmR1OpUbmbgJba6YFDQhCXvJqoSPwetHOFpSZUAabodIvKCnBmppyAx', '2026-11-22 06:13:32.957+00', NULL, 86400);

SELECT pg_catalog.setval('public.catalogue_directory_id', 4, true);

SELECT pg_catalog.setval('public.catalogue_field_id_seq', 1, true);

SELECT pg_catalog.setval('public.catalogue_file_id', 2, true);

SELECT pg_catalog.setval('public.catalogue_name_id_seq', 4, true);

SELECT pg_catalog.setval('public.job_history_id_seq', 35, true);

SELECT pg_catalog.setval('public.jobs_jid_seq', 5, true);

SELECT pg_catalog.setval('public.migrations_id_seq', 9, true);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT "PK_8c82d7f526340ab734260ea46be" PRIMARY KEY (id);

ALTER TABLE ONLY public.authorization_code
    ADD CONSTRAINT authorization_code_pkey PRIMARY KEY (code_hash);

ALTER TABLE ONLY public.authorization_grant
    ADD CONSTRAINT authorization_grant_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.browser_session
    ADD CONSTRAINT browser_session_pkey PRIMARY KEY (id_hash);

ALTER TABLE ONLY public.catalogue_directory
    ADD CONSTRAINT catalogue_directory_label_key UNIQUE (label);

ALTER TABLE ONLY public.catalogue_directory
    ADD CONSTRAINT catalogue_directory_parent_name_key UNIQUE (parent, name);

ALTER TABLE ONLY public.catalogue_directory
    ADD CONSTRAINT catalogue_directory_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.catalogue_field
    ADD CONSTRAINT catalogue_field_name_key UNIQUE (name);

ALTER TABLE ONLY public.catalogue_field
    ADD CONSTRAINT catalogue_field_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.catalogue_file
    ADD CONSTRAINT catalogue_file_pkey PRIMARY KEY (directory_id, name);

ALTER TABLE ONLY public.catalogue_name
    ADD CONSTRAINT catalogue_name_kind_name_key UNIQUE (kind, name);

ALTER TABLE ONLY public.catalogue_name
    ADD CONSTRAINT catalogue_name_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.catalogue_segment
    ADD CONSTRAINT catalogue_segment_pkey PRIMARY KEY (field_id, lo);

ALTER TABLE ONLY public.device_authorization
    ADD CONSTRAINT device_authorization_pkey PRIMARY KEY (device_code_hash);

ALTER TABLE ONLY public.device_authorization
    ADD CONSTRAINT device_authorization_user_code_key UNIQUE (user_code);

ALTER TABLE ONLY public.job_descriptions
    ADD CONSTRAINT job_descriptions_pkey PRIMARY KEY (jid);

ALTER TABLE ONLY public.job_executors
    ADD CONSTRAINT job_executors_pkey PRIMARY KEY (executor);

ALTER TABLE ONLY public.job_history
    ADD CONSTRAINT job_history_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.job_idempotency_keys
    ADD CONSTRAINT job_idempotency_keys_pkey PRIMARY KEY (owner, owner_group, setup, key);

ALTER TABLE ONLY public.job_parameters
    ADD CONSTRAINT job_parameters_pkey PRIMARY KEY (jid);

ALTER TABLE ONLY public.job_peeks
    ADD CONSTRAINT job_peeks_pkey PRIMARY KEY (jid);

ALTER TABLE ONLY public.job_sandboxes
    ADD CONSTRAINT job_sandboxes_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (jid);

ALTER TABLE ONLY public.login_session
    ADD CONSTRAINT login_session_pkey PRIMARY KEY (state_hash);

ALTER TABLE ONLY public.refresh_token
    ADD CONSTRAINT refresh_token_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.registry_application
    ADD CONSTRAINT registry_application_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.registry_certificate
    ADD CONSTRAINT registry_certificate_pkey PRIMARY KEY (dn);

ALTER TABLE ONLY public.registry_group
    ADD CONSTRAINT registry_group_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.registry_member
    ADD CONSTRAINT registry_member_pkey PRIMARY KEY (group_name, user_name);

ALTER TABLE ONLY public.registry_setup
    ADD CONSTRAINT registry_setup_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.registry_site
    ADD CONSTRAINT registry_site_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.registry_state
    ADD CONSTRAINT registry_state_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.registry_storage_element
    ADD CONSTRAINT registry_storage_element_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.registry_subject
    ADD CONSTRAINT registry_subject_pkey PRIMARY KEY (issuer, sub);

ALTER TABLE ONLY public.registry_user
    ADD CONSTRAINT registry_user_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.revoked_token
    ADD CONSTRAINT revoked_token_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.signing_key
    ADD CONSTRAINT signing_key_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY public.stored_token
    ADD CONSTRAINT stored_token_pkey PRIMARY KEY (id);

CREATE INDEX authorization_code_grant ON public.authorization_code USING btree (grant_id);

CREATE INDEX authorization_grant_expiry ON public.authorization_grant USING btree (expires_at);

CREATE INDEX authorization_grant_user ON public.authorization_grant USING btree (user_name, client_id);

CREATE INDEX browser_session_expiry ON public.browser_session USING btree (expires_at);

CREATE INDEX catalogue_delta_directory ON public.catalogue_delta USING btree (directory_id);

CREATE INDEX catalogue_directory_boundary ON public.catalogue_directory USING btree (label) WHERE boundary;

CREATE INDEX catalogue_directory_path ON public.catalogue_directory USING hash (path);

CREATE INDEX catalogue_segment_directory ON public.catalogue_segment USING btree (directory_id);

CREATE INDEX catalogue_segment_float ON public.catalogue_segment USING btree (field_id, float_value, lo) INCLUDE (hi) WHERE (float_value IS NOT NULL);

CREATE INDEX catalogue_segment_int ON public.catalogue_segment USING btree (field_id, int_value, lo) INCLUDE (hi) WHERE (int_value IS NOT NULL);

CREATE INDEX catalogue_segment_place ON public.catalogue_segment USING btree (lo) INCLUDE (hi, field_id, int_value, float_value, text_value);

CREATE INDEX catalogue_segment_text ON public.catalogue_segment USING btree (field_id, text_value, lo) INCLUDE (hi) WHERE (text_value IS NOT NULL);

CREATE UNIQUE INDEX catalogue_value_float ON public.catalogue_value USING btree (field_id, float_value) WHERE (float_value IS NOT NULL);

CREATE UNIQUE INDEX catalogue_value_int ON public.catalogue_value USING btree (field_id, int_value) WHERE (int_value IS NOT NULL);

CREATE UNIQUE INDEX catalogue_value_text ON public.catalogue_value USING btree (field_id, text_value) WHERE (text_value IS NOT NULL);

CREATE INDEX device_authorization_expiry ON public.device_authorization USING btree (expires_at);

CREATE INDEX job_block_counts_block ON public.job_block_counts USING btree (setup, block);

CREATE INDEX job_block_counts_fresh ON public.job_block_counts USING btree (setup, block) WHERE (NOT is_merged);

CREATE INDEX job_history_jid ON public.job_history USING btree (jid, id);

CREATE INDEX job_idempotency_keys_created_at ON public.job_idempotency_keys USING btree (created_at);

CREATE INDEX job_label_counts_fresh ON public.job_label_counts USING btree (setup, kind, label) WHERE (NOT is_merged);

CREATE INDEX job_label_counts_label ON public.job_label_counts USING btree (setup, kind, label);

CREATE INDEX job_sandboxes_used_at ON public.job_sandboxes USING btree (used_at);

CREATE INDEX job_totals_fresh ON public.job_totals USING btree (setup, owner) WHERE (NOT is_merged);

CREATE INDEX job_totals_owner ON public.job_totals USING btree (setup, owner);

CREATE INDEX jobs_admission ON public.jobs USING btree (jid) WHERE (status = ANY (ARRAY['Received'::text, 'Checking'::text]));

CREATE INDEX jobs_executor ON public.jobs USING btree (executor) WHERE (executor IS NOT NULL);

CREATE INDEX jobs_input_sandbox ON public.jobs USING btree (input_sandbox) WHERE (input_sandbox IS NOT NULL);

CREATE INDEX jobs_job_group ON public.jobs USING btree (setup, job_group, jid);

CREATE INDEX jobs_last_update ON public.jobs USING btree (setup, last_update, jid);

CREATE INDEX jobs_name ON public.jobs USING btree (setup, name, jid);

CREATE INDEX jobs_output_sandbox ON public.jobs USING btree (output_sandbox) WHERE (output_sandbox IS NOT NULL);

CREATE INDEX jobs_owner ON public.jobs USING btree (setup, owner, jid);

CREATE INDEX jobs_owner_group ON public.jobs USING btree (setup, owner_group, jid);

CREATE INDEX jobs_queue ON public.jobs USING btree (site, priority DESC, jid) WHERE ((status = 'Waiting'::text) AND (executor IS NULL));

CREATE INDEX jobs_setup ON public.jobs USING btree (setup, jid);

CREATE INDEX jobs_site ON public.jobs USING btree (setup, site, jid);

CREATE INDEX jobs_status ON public.jobs USING btree (setup, status, jid);

CREATE INDEX login_session_expiry ON public.login_session USING btree (expires_at);

CREATE INDEX refresh_token_expiry ON public.refresh_token USING btree (expires_at);

CREATE INDEX refresh_token_grant ON public.refresh_token USING btree (grant_id);

CREATE INDEX registry_certificate_user ON public.registry_certificate USING btree (user_name);

CREATE INDEX registry_member_user ON public.registry_member USING btree (user_name);

CREATE INDEX registry_subject_user ON public.registry_subject USING btree (user_name);

CREATE INDEX revoked_token_expiry ON public.revoked_token USING btree (expires_at);

CREATE UNIQUE INDEX signing_key_next ON public.signing_key USING btree ((true)) WHERE (active_from IS NULL);

CREATE INDEX stored_token_expiry ON public.stored_token USING btree (expires_at);

CREATE TRIGGER jobs_added AFTER INSERT ON public.jobs REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.count_added_jobs();

CREATE TRIGGER jobs_changed AFTER UPDATE ON public.jobs REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.count_changed_jobs();

CREATE TRIGGER jobs_removed AFTER DELETE ON public.jobs REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.count_removed_jobs();

CREATE TRIGGER registry_application_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.registry_application FOR EACH STATEMENT EXECUTE FUNCTION public.registry_changed();

CREATE TRIGGER registry_certificate_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.registry_certificate FOR EACH STATEMENT EXECUTE FUNCTION public.registry_changed();

CREATE TRIGGER registry_group_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.registry_group FOR EACH STATEMENT EXECUTE FUNCTION public.registry_changed();

CREATE TRIGGER registry_member_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.registry_member FOR EACH STATEMENT EXECUTE FUNCTION public.registry_changed();

CREATE TRIGGER registry_setup_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.registry_setup FOR EACH STATEMENT EXECUTE FUNCTION public.registry_changed();

CREATE TRIGGER registry_site_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.registry_site FOR EACH STATEMENT EXECUTE FUNCTION public.registry_changed();

CREATE TRIGGER registry_storage_element_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.registry_storage_element FOR EACH STATEMENT EXECUTE FUNCTION public.registry_changed();

CREATE TRIGGER registry_subject_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.registry_subject FOR EACH STATEMENT EXECUTE FUNCTION public.registry_changed();

CREATE TRIGGER registry_user_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.registry_user FOR EACH STATEMENT EXECUTE FUNCTION public.registry_changed();

ALTER TABLE ONLY public.authorization_code
    ADD CONSTRAINT authorization_code_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.authorization_grant(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.catalogue_directory
    ADD CONSTRAINT catalogue_directory_parent_fkey FOREIGN KEY (parent) REFERENCES public.catalogue_directory(id);

ALTER TABLE ONLY public.catalogue_segment
    ADD CONSTRAINT catalogue_segment_directory_id_fkey FOREIGN KEY (directory_id) REFERENCES public.catalogue_directory(id);

ALTER TABLE ONLY public.catalogue_segment
    ADD CONSTRAINT catalogue_segment_field_id_fkey FOREIGN KEY (field_id) REFERENCES public.catalogue_field(id);

ALTER TABLE ONLY public.catalogue_value
    ADD CONSTRAINT catalogue_value_field_id_fkey FOREIGN KEY (field_id) REFERENCES public.catalogue_field(id);

ALTER TABLE ONLY public.device_authorization
    ADD CONSTRAINT device_authorization_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.authorization_grant(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.refresh_token
    ADD CONSTRAINT refresh_token_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.authorization_grant(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.registry_certificate
    ADD CONSTRAINT registry_certificate_user_name_fkey FOREIGN KEY (user_name) REFERENCES public.registry_user(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.registry_member
    ADD CONSTRAINT registry_member_group_name_fkey FOREIGN KEY (group_name) REFERENCES public.registry_group(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.registry_member
    ADD CONSTRAINT registry_member_user_name_fkey FOREIGN KEY (user_name) REFERENCES public.registry_user(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.registry_subject
    ADD CONSTRAINT registry_subject_user_name_fkey FOREIGN KEY (user_name) REFERENCES public.registry_user(name) ON DELETE CASCADE;

