import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Users get an opaque subject for life. What was given once is remembered by the database itself, so that also a version
 * that knows nothing of subjects keeps the rule.
 */
export class SubjectsOfUsers1763800000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table registry_user
        add column sub text not null default gen_random_uuid()::text,
        add constraint registry_user_sub_key unique (sub);

      create table registry_known_subject (
        sub text primary key,
        user_name text not null
      );
      insert into registry_known_subject (sub, user_name) select sub, name from registry_user;

      create function registry_keep_subjects() returns trigger language plpgsql as $$
        begin
          insert into registry_known_subject (sub, user_name) select sub, name from written
            on conflict (sub) do nothing;
          return null;
        end $$;
      create trigger registry_user_subject_added after insert on registry_user
        referencing new table as written for each statement execute function registry_keep_subjects();
      create trigger registry_user_subject_changed after update on registry_user
        referencing new table as written for each statement execute function registry_keep_subjects();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger registry_user_subject_added on registry_user;
      drop trigger registry_user_subject_changed on registry_user;
      drop function registry_keep_subjects();
      drop table registry_known_subject;
      alter table registry_user drop column sub`);
  }
}
