import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Authorization requests that are handed in beforehand, and codes and consents that are bound to a DPoP key. */
export class PushedRequests1763800200002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table pushed_request (
        hash text primary key,
        client_id text not null,
        parameters text not null,
        opened_at timestamptz,
        expires_at timestamptz not null
      );
      create index pushed_request_expiry on pushed_request (expires_at);
      alter table authorization_code add column dpop_key text;
      alter table authorization_grant add column dpop_key text;
    `);
  }

  /** Consents that are bound to a key go with their refresh tokens, which would be good for everybody else. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table pushed_request;
      delete from authorization_grant where dpop_key is not null;
      alter table authorization_grant drop column dpop_key;
      alter table authorization_code drop column dpop_key;
    `);
  }
}
