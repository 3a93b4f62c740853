import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What has changed, for feeds and webhooks: one row per statement that changed something, numbered once it is committed.
 * Numbers are given by source.
 */
export class EventLog1763900000001 implements MigrationInterface {
  name = 'EventLog1763900000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table event_log (
        id bigint generated always as identity primary key,
        source text not null,
        xact bigint not null,
        written_at timestamptz(3) not null,
        n integer not null,
        events json not null,
        last bigint
      ) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
      create index event_log_fresh on event_log (source, xact) where last is null;
      create unique index event_log_last on event_log (source, last) where last is not null;
      create table event_positions (
        source text primary key,
        position bigint not null default 0,
        floor bigint not null default 0,
        gone bigint not null default 0
      ) with (fillfactor = 10);
      insert into event_positions (source) values ('jobs'), ('filecatalogue');
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table event_log, event_positions');
  }
}
