import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a site has and what a job needs. Null at a site: not declared. Memory in MB, wall time in seconds; null wall
 * time: as long as the site lets it.
 */
export class Resources1763600200101 implements MigrationInterface {
  name = 'Resources1763600200101';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table registry_site
      add column processors integer check (processors > 0),
      add column ram_mb integer check (ram_mb > 0),
      add column gpus integer check (gpus >= 0),
      add column tags text[],
      add column max_wall_time integer check (max_wall_time > 0),
      add column network text check (network in ('none', 'host'))`);
    await queryRunner.query(`alter table jobs
      add column processors integer not null default 1,
      add column min_ram_mb integer not null default 0,
      add column gpus integer not null default 0,
      add column tags text[] not null default '{}',
      add column wall_time integer`);
    // Of the new columns only processors could be asked for before, and only with a whole number from 1 to 1024.
    await queryRunner.query(`update jobs j set processors = w.processors
      from (
        select jid, coalesce(manifest ->> 'NumberOfProcessors', manifest ->> 'MinNumberOfProcessors')::integer
          as processors
        from job_descriptions where manifest::text like '%NumberOfProcessors%'
          and coalesce(manifest ->> 'NumberOfProcessors', manifest ->> 'MinNumberOfProcessors') ~ '^[0-9]{1,4}$'
      ) w where w.jid = j.jid and w.processors > 1`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table jobs drop column processors, drop column min_ram_mb,
      drop column gpus, drop column tags, drop column wall_time`);
    await queryRunner.query(`alter table registry_site drop column processors, drop column ram_mb,
      drop column gpus, drop column tags, drop column max_wall_time, drop column network`);
  }
}
