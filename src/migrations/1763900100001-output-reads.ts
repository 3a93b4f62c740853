import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Any part of any file of a running job can be asked for, not only the end of its standard output. The table is not
 * logged: what it holds is waited for by a request of this moment, and of no use after a crash.
 */
export class OutputReads1763900100001 implements MigrationInterface {
  name = 'OutputReads1763900100001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table job_peeks');
    await queryRunner.query(`create unlogged table job_output_reads (
      id bigint generated always as identity primary key,
      jid bigint not null,
      name text not null,
      wanted_from bigint not null,
      most_bytes integer not null,
      expires_at timestamptz(3) not null,
      answered_at timestamptz(3),
      size_bytes bigint,
      file text,
      modified_ms double precision,
      content_from bigint,
      content bytea
    )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table job_output_reads');
    await queryRunner.query(`create table job_peeks (
      jid bigint primary key,
      asked_at timestamptz(3) not null,
      answered_at timestamptz(3),
      stdout text not null default '',
      stderr text not null default ''
    )`);
  }
}
