/** Fills the table of jobs by SQL: the triggers of the service count them as they count submitted ones. */
import pg from 'pg';

const CHUNK = 50_000;

/**
 * Jobs 1 … count in blocks: five owners (alice has six of ten), three sites, one of a thousand Failed, a
 * third of the names the same. All have ended, so nothing moves while the lists are read.
 */
const ADD = `
  insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, app_status, name, job_group,
    job_type, site, priority, cpu_time, verified, submission_time, last_update, start_execution, end_execution)
  select 'Prod', owner, '/DC=org/DC=grid/CN=' || owner, 'grid_user', 'vo',
    case when n % 1000 = 7 then 'Failed' else 'Done' end,
    case when n % 1000 = 7 then 'Application Finished With Errors' else 'Execution Complete' end,
    'Unknown', case when n % 3 = 0 then 'usual' else 'name-' || n end, 'group-' || n / 500, 'User',
    (array['LOCAL.demo', 'LOCAL.spare', 'SITE.third'])[1 + n % 3], 1, 86400, true,
    started, started + interval '1 minute', started + interval '10 seconds', started + interval '1 minute'
  from generate_series($1::int, $2::int) n,
    lateral (select (array['alice', 'alice', 'bob', 'alice', 'carol', 'alice', 'erin', 'alice', 'dave',
        'alice'])[1 + n % 10] as owner,
      timestamptz '2026-01-01' + n * interval '20 seconds' as started) as of_job`;

const MERGE = [
  ['job_totals', 'setup, owner, owner_group, vo, status, minor_status, site, job_type'],
  ['job_label_counts', 'setup, kind, label, owner, owner_group, vo, status, site'],
  ['job_block_counts', 'setup, block, owner, vo, status, site'],
];

/** Adds `count` jobs and brings the counters and statistics into the state of a table that has stood for a while. */
export async function fillJobs(database, count) {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    for (let from = 1; from <= count; from += CHUNK) {
      await client.query(ADD, [from, Math.min(count, from + CHUNK - 1)]);
    }
    for (const [table, columns] of MERGE) {
      await client.query(`with old as (delete from ${table} returning *)
        insert into ${table} (${columns}, n, is_merged)
        select ${columns}, sum(n), true from old group by ${columns}`);
    }
    await client.query('vacuum (analyze)');
  } finally {
    await client.end();
  }
}
