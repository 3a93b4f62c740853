import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What runs have used: each for a while, and for good as sums of days. */
export class Usage1763903000001 implements MigrationInterface {
  name = 'Usage1763903000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`create table job_runs (
      jid bigint not null,
      attempt integer not null,
      noted_at timestamptz(3) not null,
      ended_at timestamptz(3) not null,
      setup text not null,
      vo text not null,
      owner_group text not null,
      owner text not null,
      site text not null,
      is_done boolean not null,
      processors integer not null,
      wall_seconds double precision not null,
      cpu_seconds double precision,
      used_mb double precision,
      given_mb double precision,
      primary key (jid, attempt)
    )`);
    await queryRunner.query(`create table job_usage (
      setup text not null,
      day date not null,
      vo text not null,
      owner_group text not null,
      owner text not null,
      site text not null,
      runs bigint not null,
      done bigint not null,
      wall_seconds double precision not null,
      processor_seconds double precision not null,
      cpu_seconds double precision not null,
      measured_seconds double precision not null,
      memory_seconds double precision not null,
      memory_used double precision not null,
      memory_given double precision not null,
      primary key (setup, day, vo, owner_group, owner, site)
    ) with (fillfactor = 70)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table job_usage');
    await queryRunner.query('drop table job_runs');
  }
}
