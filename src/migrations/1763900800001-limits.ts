import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Users, groups and sites may have limits of running and waiting jobs, and sites may be drained. */
export class Limits1763900800001 implements MigrationInterface {
  name = 'Limits1763900800001';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of LIMITED) {
      await queryRunner.query(`alter table ${table} add column limits jsonb`);
    }
    await queryRunner.query(`create table registry_drain (
      site text primary key,
      reason text not null,
      drained_by text not null,
      drained_at timestamptz(3) not null
    )`);
    await queryRunner.query(`create trigger registry_drain_changed
      after insert or update or delete or truncate on registry_drain
      for each statement execute function registry_changed()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table registry_drain');
    for (const table of LIMITED) {
      await queryRunner.query(`alter table ${table} drop column limits`);
    }
  }
}

const LIMITED = ['registry_user', 'registry_group', 'registry_site'];
