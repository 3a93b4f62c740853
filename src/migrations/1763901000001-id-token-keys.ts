import type { MigrationInterface, QueryRunner } from 'typeorm';

/** RSA keys of ID tokens, and which applications want them. */
export class IdTokenKeys1763901000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
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
      alter table registry_application add column id_token_alg text;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table registry_application drop column id_token_alg;
      drop table id_token_key;`);
  }
}
