import type { MigrationInterface, QueryRunner } from 'typeorm';

/** News about jobs is told to each owner of jobs that wait for them: whoever has millions of conditions holds up their own jobs only. */
export class DependenciesByOwner1763910500002 implements MigrationInterface {
  name = 'DependenciesByOwner1763910500002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table job_dependencies add column owner text not null default '';
      update job_dependencies d set owner = j.owner from jobs j where j.jid = d.jid;
      drop index job_dependencies_open;
      create index job_dependencies_open on job_dependencies (target, owner, id) where outcome is null;
      alter table job_dependency_news add column owner text not null default '';
      create table job_dependency_news_told as
        select n.id as old, x.*, row_number() over (order by n.id, x.owner) as turn from job_dependency_news n
        cross join lateral (
          select n.jid, n.what, n.upto, j.owner from jobs j where j.jid = n.jid and n.what in ('look', 'again')
          union all
          select distinct n.jid, n.what, n.upto, d.owner from job_dependencies d
          where d.target = n.jid and d.outcome is null and d.id <= n.upto and n.what not in ('look', 'again')
        ) x;
      delete from job_dependency_news;
      insert into job_dependency_news (jid, what, upto, owner)
        select jid, what, upto, owner from job_dependency_news_told order by turn;
      drop table job_dependency_news_told;
      create index job_dependency_news_owner on job_dependency_news (owner, id);`);
    await runner.query(`create or replace function job_dependency_ended() returns trigger language plpgsql as $$
      begin
        insert into job_dependency_news (jid, what, upto, owner)
        with recursive waiting as (
          (select d.owner from job_dependencies d where d.target = new.jid and d.outcome is null
            order by d.owner limit 1)
          union all
          select next.owner from waiting w cross join lateral (
            select d.owner from job_dependencies d
            where d.target = new.jid and d.outcome is null and d.owner > w.owner order by d.owner limit 1) as next
        )
        select new.jid, new.status, last.id, w.owner from waiting w cross join lateral (
          select d.id from job_dependencies d
          where d.target = new.jid and d.outcome is null and d.owner = w.owner order by d.id desc limit 1) as last;
        return null;
      end $$`);
    await runner.query(again('jid, what, upto, owner', `new.jid, 'again', 0, new.owner`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(again('jid, what, upto', `new.jid, 'again', 0`));
    await runner.query(`create or replace function job_dependency_ended() returns trigger language plpgsql as $$
      begin
        insert into job_dependency_news (jid, what, upto)
        select new.jid, new.status, max(d.id) from job_dependencies d
        where d.target = new.jid and d.outcome is null having max(d.id) is not null;
        return null;
      end $$`);
    await runner.query(`
      alter table job_dependency_news drop column owner;
      alter table job_dependencies drop column owner;
      create index job_dependencies_open on job_dependencies (target, id) where outcome is null;`);
  }
}

function again(columns: string, values: string): string {
  return `create or replace function job_dependency_again() returns trigger language plpgsql as $$
    begin
      if exists (select from job_dependencies d where d.jid = new.jid and d.outcome is distinct from 'met') then
        insert into job_dependency_news (${columns}) values (${values});
      elsif old.held_by = 'jobs' then
        new.held_by := null;
      end if;
      return new;
    end $$`;
}
