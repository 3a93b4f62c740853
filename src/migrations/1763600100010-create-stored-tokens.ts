import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tokens of identity providers that the service keeps for its users, shared by all instances. */
export class CreateStoredTokens1763600100010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table stored_token (
        id text primary key,
        sealed text not null,
        expires_at timestamptz not null
      );
      create index stored_token_expiry on stored_token (expires_at);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table stored_token');
  }
}
