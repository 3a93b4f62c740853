import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Signing keys of access tokens, and what has been revoked before its end. */
export class CreateSigningKeys1763600000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
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
      create index revoked_token_expiry on revoked_token (expires_at);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table revoked_token, signing_key');
  }
}
