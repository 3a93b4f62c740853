import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Waiting jobs that ask for the same share a shape, and the queue is ordered within each: those for which there is no
 * room, or no site at all, are passed by in one step, however many they are. Shapes are hashes; who takes a job looks
 * at its own columns.
 */
export class ShapesOfJobs1763700300000 implements MigrationInterface {
  name = 'ShapesOfJobs1763700300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index jobs_queue');
    await queryRunner.query(`alter table jobs
      add column max_ram_mb integer not null default 0`);
    await queryRunner.query(`update jobs j set max_ram_mb = w.ram::integer
      from (
        select jid, coalesce(d.manifest ->> 'MaxRAM', t.manifest ->> 'MaxRAM') as ram
        from job_descriptions d left join job_templates t on t.id = d.template
        where d.manifest::text like '%MaxRAM%' or t.manifest::text like '%MaxRAM%'
      ) w where w.jid = j.jid and w.ram ~ '^[0-9]{1,8}$'`);
    await queryRunner.query(`alter table jobs
      add column shape bigint not null generated always as (${SHAPE}) stored`);
    await queryRunner.query(`create index jobs_queue on jobs (shape, priority desc, jid)
      where status = 'Waiting' and executor is null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table jobs drop column shape, drop column max_ram_mb');
    await queryRunner.query(`create index jobs_queue on jobs (site, priority desc, jid)
      where status = 'Waiting' and executor is null`);
  }
}

/** Jobs that were found to fit nowhere are apart: whether that is still so is asked once for all of a shape. */
const SHAPE = `hashtextextended(setup, 1)
  # hash_array_extended(wanted_sites, 2)
  # hash_array_extended(banned_sites, 3)
  # hash_array_extended(tags, 4)
  # hashint4extended(processors, 5)
  # hashint4extended(min_ram_mb, 6)
  # hashint4extended(max_ram_mb, 7)
  # hashint4extended(gpus, 8)
  # hashint4extended(coalesce(wall_time, 0), 9)
  # case when minor_status = 'No candidate sites available' then 1 else 0 end`;
