import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A disabled user keeps the groups, for when they are enabled again; and who rules the registry: its file, or changes of it. */
export class DisabledUsers1763910600001 implements MigrationInterface {
  name = 'DisabledUsers1763910600001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table registry_user add column disabled boolean not null default false;
      alter table registry_state add column file_rules boolean not null default false;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      delete from registry_member where user_name in (select name from registry_user where disabled);
      alter table registry_user drop column disabled;
      alter table registry_state drop column file_rules;`);
  }
}
