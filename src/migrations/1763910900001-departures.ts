import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When memberships ended, so that tokens from before are dead also when there is the same membership again. */
export class Departures1763910900001 implements MigrationInterface {
  name = 'Departures1763910900001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table registry_departure (
        user_name text not null,
        group_name text not null,
        left_at timestamptz not null,
        primary key (user_name, group_name));`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table registry_departure');
  }
}
