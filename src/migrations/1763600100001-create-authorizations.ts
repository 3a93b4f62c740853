import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What users have allowed applications to do, and the codes, refresh tokens and sessions on the way there. */
export class CreateAuthorizations1763600100001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
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
      create index device_authorization_expiry on device_authorization (expires_at);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table device_authorization, refresh_token, authorization_code, authorization_grant,
        browser_session`);
  }
}
