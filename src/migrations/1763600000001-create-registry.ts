import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables of the registry; any change of them raises the version and tells every instance. */
export class CreateRegistry1763600000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PEOPLE);
    await runner.query(THINGS);
    for (const table of WATCHED) {
      await runner.query(`
        create trigger ${table}_changed
        after insert or update or delete or truncate on ${table}
        for each statement execute function registry_changed()`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const tables = [...WATCHED].reverse().join(', ');
    await runner.query(`
      drop table ${tables}, registry_state;
      drop function registry_changed();`);
  }
}

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

const PEOPLE = `
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
  create index registry_member_user on registry_member (user_name);`;

const THINGS = `
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
  end $$;`;
