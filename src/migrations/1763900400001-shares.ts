import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Places are shared between groups, and between the owners of each: the queue is ordered within shape, group and owner, and what
 * everybody has had stands in a table of its own.
 */
export class Shares1763900400001 implements MigrationInterface {
  name = 'Shares1763900400001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`create table registry_share (
      group_name text primary key,
      position integer not null,
      weight integer not null
    )`);
    await queryRunner.query(`create trigger registry_share_changed
      after insert or update or delete or truncate on registry_share
      for each statement execute function registry_changed()`);
    await queryRunner.query(`create table job_shares (
      owner_group text not null,
      owner text not null,
      used double precision not null,
      held integer not null,
      running integer not null,
      as_of timestamptz(3) not null,
      primary key (owner_group, owner)
    ) with (fillfactor = 50)`);
    await queryRunner.query('drop index jobs_queue');
    await queryRunner.query(`create index jobs_queue on jobs (shape, owner_group, owner, priority desc, jid)
      where ${IS_QUEUED}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index jobs_queue');
    await queryRunner.query(`create index jobs_queue on jobs (shape, priority desc, jid)
      where ${IS_QUEUED}`);
    await queryRunner.query('drop table job_shares');
    await queryRunner.query('drop table registry_share');
  }
}

const IS_QUEUED = `status = 'Waiting' and executor is null and held_by is null`;
