import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The file catalogue: directories with order-preserving labels, one disjoint segment of labels per metadata
 * definition, files keyed by (directory, name), and pending changes of totals. Fixed-width columns come first
 * (no padding), columns that change often are in no index (heap-only updates).
 */
export class CreateCatalogue1763600000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(NAMES_AND_FIELDS);
    await runner.query(DIRECTORIES);
    await runner.query(SEGMENTS);
    await runner.query(FILES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table catalogue_delta;
      drop table catalogue_file;
      drop sequence catalogue_file_id;
      drop table catalogue_value;
      drop table catalogue_segment;
      drop table catalogue_directory;
      drop sequence catalogue_directory_id;
      drop table catalogue_field;
      drop table catalogue_name;
      drop type catalogue_span;
    `);
  }
}

const NAMES_AND_FIELDS = `
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
    name text collate "C" not null unique
  );
`;

const DIRECTORIES = `
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
`;

const SEGMENTS = `
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
`;

const FILES = `
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
