import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether a receiver was silent at its latest attempt: such ones have fewer places. */
export class SilentWebhooks1763910400001 implements MigrationInterface {
  name = 'SilentWebhooks1763910400001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhook add column silent boolean not null default false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhook drop column silent');
  }
}
