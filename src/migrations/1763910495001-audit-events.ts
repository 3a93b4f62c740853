import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lines of the audit trail of all instances. Their ids begin with the time, so that the key is the order of time, too. */
export class AuditEvents1763910495001 implements MigrationInterface {
  name = 'AuditEvents1763910495001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`create table audit_events (
      id uuid primary key,
      time timestamptz(3) not null,
      instance text not null,
      event text not null,
      outcome text not null,
      user_name text,
      group_name text,
      client_id text,
      details jsonb not null
    )`);
    await queryRunner.query('create index audit_events_event on audit_events (event, id)');
    await queryRunner.query(
      `create index audit_events_who on audit_events (coalesce(user_name, details ->> 'account'), id)`,
    );
    await queryRunner.query(
      `create index audit_events_refused on audit_events (id) where outcome = 'refused'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table audit_events');
  }
}
