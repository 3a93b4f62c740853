import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who reschedules a job whose condition could not come true waits for other jobs again; a hold by people is not theirs to end so. */
export class HoldsOutlastReschedules1763910300001 implements MigrationInterface {
  name = 'HoldsOutlastReschedules1763910300001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(again(`elsif old.held_by = 'jobs' then`, ''));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(again('else', `new.held_by := 'jobs';`));
  }
}

function again(otherwise: string, first: string): string {
  return `create or replace function job_dependency_again() returns trigger language plpgsql as $$
    begin
      if exists (select from job_dependencies d where d.jid = new.jid and d.outcome is distinct from 'met') then
        ${first}
        insert into job_dependency_news (jid, what, upto) values (new.jid, 'again', 0);
      ${otherwise}
        new.held_by := null;
      end if;
      return new;
    end $$`;
}
