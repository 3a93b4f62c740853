import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What tokens of jobs may be, and the runs that have been given some. */
export class TokensOfJobs1763900300001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'create table job_token_rights (id text primary key, delegation json not null)',
    );
    await runner.query('alter table job_descriptions add column token_right text');
    await runner.query(`create table job_run_tokens (
      jid bigint not null,
      attempt integer not null,
      token_right text not null,
      primary key (jid, attempt)
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table job_run_tokens');
    await runner.query('alter table job_descriptions drop column token_right');
    await runner.query('drop table job_token_rights');
  }
}
