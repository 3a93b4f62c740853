import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Each metadata field knows how many distinct values it has, so that a capped list costs what it shows. */
export class CountFieldValues1763600100080 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table catalogue_field add column value_count bigint not null default 0;
      update catalogue_field f set value_count = (
        select count(*) from catalogue_value v where v.field_id = f.id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table catalogue_field drop column value_count');
  }
}
