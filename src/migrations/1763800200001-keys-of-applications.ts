import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How applications prove themselves without a secret, what is demanded of them, and what they may have for themselves. */
export class KeysOfApplications1763800200001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table registry_application
        add column authentication text,
        add column jwks jsonb,
        add column subject_dn text,
        add column profile text,
        add column scopes text[],
        add column group_name text;
      create table used_proof (
        id text primary key,
        expires_at timestamptz not null
      );
      create index used_proof_expiry on used_proof (expires_at);
    `);
  }

  /** Applications that have no secret go: without their keys they would be open to everybody who knows their name. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table used_proof;
      delete from registry_application where authentication is not null;
      alter table registry_application
        drop column authentication, drop column jwks, drop column subject_dn, drop column profile,
        drop column scopes, drop column group_name;
    `);
  }
}
