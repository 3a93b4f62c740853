import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What ID tokens say: when and how somebody signed in, in which session, and the nonce of the request. */
export class OpenidConnect1763800100001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table browser_session
        add column sid text, add column authenticated_at timestamptz, add column signed_in_for text;
      update browser_session set sid = gen_random_uuid()::text, authenticated_at = created_at
        where user_name is not null;
      alter table authorization_grant
        add column auth_time timestamptz, add column acr text, add column sid text;
      alter table authorization_code add column nonce text;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table authorization_code drop column nonce;
      alter table authorization_grant drop column auth_time, drop column acr, drop column sid;
      alter table browser_session
        drop column sid, drop column authenticated_at, drop column signed_in_for;`);
  }
}
