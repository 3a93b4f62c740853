import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For which services applications may have tokens and users have allowed them; and consents know whose they are for life. */
export class Audiences1763800000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table registry_application add column audiences text[];
      alter table authorization_grant add column audience text[], add column sub text;
      alter table device_authorization add column audience text[]`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table device_authorization drop column audience;
      alter table authorization_grant drop column audience, drop column sub;
      alter table registry_application drop column audiences`);
  }
}
