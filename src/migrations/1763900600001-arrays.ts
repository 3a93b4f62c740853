import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Jobs of one submit may be an array: what they have in common stands once, and each names it. */
export class Arrays1763900600001 implements MigrationInterface {
  name = 'Arrays1763900600001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`create table job_arrays (
      id bigint generated always as identity primary key,
      setup text not null,
      owner text not null,
      owner_group text not null,
      vo text not null,
      name text,
      total integer not null,
      submission_time timestamptz(3) not null
    )`);
    await queryRunner.query('alter table jobs add column array_id bigint');
    await queryRunner.query(`create index jobs_array on jobs (array_id, jid)
      where array_id is not null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table jobs drop column array_id');
    await queryRunner.query('drop table job_arrays');
  }
}
