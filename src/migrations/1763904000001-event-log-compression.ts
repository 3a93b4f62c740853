import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Events of a bulk are over 2 kB and therefore compressed; lz4 takes a fifth of the time of pglz for it. A PostgreSQL that was
 * built without lz4, like the one that comes with the package, goes on with pglz.
 */
export class EventLogCompression1763904000001 implements MigrationInterface {
  name = 'EventLogCompression1763904000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      do $$ begin
        alter table event_log alter events set compression lz4;
      exception when feature_not_supported then null;
      end $$`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table event_log alter events set compression default');
  }
}
