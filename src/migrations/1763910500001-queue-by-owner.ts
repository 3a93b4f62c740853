import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The queue is ordered by owners first: whatever one of them asks for, all others are found in one step each. Jobs that were found to
 * fit nowhere stand apart, in the same order.
 */
export class QueueByOwner1763910500001 implements MigrationInterface {
  name = 'QueueByOwner1763910500001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index jobs_queue');
    await queryRunner.query(`create index jobs_queue on jobs (owner_group, owner, shape, priority desc, jid)
      where ${IS_QUEUED} and minor_status <> '${NO_SITES}'`);
    await queryRunner.query(`create index jobs_unplaceable on jobs (owner_group, owner, shape, priority desc, jid)
      where ${IS_QUEUED} and minor_status = '${NO_SITES}'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index jobs_unplaceable');
    await queryRunner.query('drop index jobs_queue');
    await queryRunner.query(`create index jobs_queue on jobs (shape, owner_group, owner, priority desc, jid)
      where ${IS_QUEUED}`);
  }
}

const IS_QUEUED = `status = 'Waiting' and executor is null and held_by is null`;
const NO_SITES = 'No candidate sites available';
