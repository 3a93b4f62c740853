import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What applications may be told of a user: a name for people and an e-mail address. */
export class NamesOfUsers1763800100002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table registry_user add column full_name text, add column email text',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table registry_user drop column full_name, drop column email');
  }
}
