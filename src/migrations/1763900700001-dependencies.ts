import type { MigrationInterface, QueryRunner } from 'typeorm';

const FINAL = `('Done', 'Failed', 'Killed', 'Deleted')`;

/** Jobs that wait for jobs; news is written in the transaction that makes it. */
export class Dependencies1763900700001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table job_dependencies (
        id bigint generated always as identity primary key,
        jid bigint not null,
        target bigint not null,
        condition text not null,
        outcome text
      );
      create unique index job_dependencies_of on job_dependencies (jid, target, condition);
      create index job_dependencies_open on job_dependencies (target, id) where outcome is null;
      create table job_dependency_news (
        id bigint generated always as identity primary key,
        jid bigint not null,
        what text not null,
        upto bigint not null
      );
      create function job_dependency_ended() returns trigger language plpgsql as $$
      begin
        insert into job_dependency_news (jid, what, upto)
        select new.jid, new.status, max(d.id) from job_dependencies d
        where d.target = new.jid and d.outcome is null having max(d.id) is not null;
        return null;
      end $$;
      create trigger jobs_dependency_ended after update of status on jobs for each row
        when (new.status in ${FINAL} and old.status not in ${FINAL})
        execute function job_dependency_ended();
      create function job_dependency_again() returns trigger language plpgsql as $$
      begin
        if exists (select from job_dependencies d where d.jid = new.jid and d.outcome is distinct from 'met') then
          new.held_by := 'jobs';
          insert into job_dependency_news (jid, what, upto) values (new.jid, 'again', 0);
        else
          new.held_by := null;
        end if;
        return new;
      end $$;
      create trigger jobs_dependency_again before update of status on jobs for each row
        when (old.status = 'Failed' and new.status not in ${FINAL} and old.held_by is not null)
        execute function job_dependency_again();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger jobs_dependency_again on jobs;
      drop trigger jobs_dependency_ended on jobs;
      drop function job_dependency_again();
      drop function job_dependency_ended();
      drop table job_dependency_news;
      drop table job_dependencies;`);
  }
}
