import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Jobs of a parametric manifest share one row with what they have in common; `manifest` of such a job holds only what
 * it has for itself. Manifests that were stored whole stay as they are.
 */
export class JobTemplates1763600200102 implements MigrationInterface {
  name = 'JobTemplates1763600200102';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`create table job_templates (
      id bigint generated always as identity primary key,
      manifest json not null,
      added json not null
    )`);
    await queryRunner.query(`alter table job_descriptions
      add column template bigint, add column place_values json`);
  }

  /** Only while no job has a template: its manifest would be lost. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`do $$ begin
      if exists (select from job_descriptions where template is not null) then
        raise exception 'there are jobs with a template';
      end if;
    end $$`);
    await queryRunner.query(
      'alter table job_descriptions drop column template, drop column place_values',
    );
    await queryRunner.query('drop table job_templates');
  }
}
