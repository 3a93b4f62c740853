import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Logins under way at identity providers, shared by all instances. */
export class CreateLoginSessions1763600000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table login_session (
        state_hash text primary key,
        record jsonb not null,
        browser text,
        return_to text,
        expires_at timestamptz not null
      );
      create index login_session_expiry on login_session (expires_at);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table login_session');
  }
}
