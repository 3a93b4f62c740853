import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where an application may have its users sent once they have signed out. */
export class PlacesAfterSignOut1763800100003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table registry_application add column post_logout_redirect_uris text[]',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table registry_application drop column post_logout_redirect_uris');
  }
}
