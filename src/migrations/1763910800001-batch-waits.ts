import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a batch system says of a job that waits in its queue, so that every instance can tell it. */
export class BatchWaits1763910800001 implements MigrationInterface {
  name = 'BatchWaits1763910800001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table jobs add column batch_wait jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table jobs drop column batch_wait');
  }
}
