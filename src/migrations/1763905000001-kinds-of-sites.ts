import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which kinds of backends there are is said by one list, which the registry file is read by (`SITE_BACKENDS`): a check in the
 * database was a second one, and a new kind needed a migration for it. A version that still has it in its own list reads the
 * table as before.
 */
export class KindsOfSites1763905000001 implements MigrationInterface {
  name = 'KindsOfSites1763905000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table registry_site drop constraint if exists registry_site_backend_check',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      "alter table registry_site add constraint registry_site_backend_check check (backend in ('local-process', 'slurm'))",
    );
  }
}
