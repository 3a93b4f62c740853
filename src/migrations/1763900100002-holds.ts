import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Waiting jobs may be held, by their owner or an administrator; the queue has only those that are not. */
export class Holds1763900100002 implements MigrationInterface {
  name = 'Holds1763900100002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table jobs add column held_by text');
    await queryRunner.query('drop index jobs_queue');
    await queryRunner.query(`create index jobs_queue on jobs (shape, priority desc, jid)
      where status = 'Waiting' and executor is null and held_by is null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table jobs drop column held_by');
    await queryRunner.query(`create index jobs_queue on jobs (shape, priority desc, jid)
      where status = 'Waiting' and executor is null`);
  }
}
