import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sites may have clusters of their own, and an executor says why its cluster cannot be reached. */
export class Places1763902000001 implements MigrationInterface {
  name = 'Places1763902000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table registry_site add column connection jsonb');
    await queryRunner.query('alter table job_executors add column fault text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table job_executors drop column fault');
    await queryRunner.query('alter table registry_site drop column connection');
  }
}
