/** Fills the queue by SQL, as submits would have left it: jobs that wait, with the skew of a real experiment. */
import pg from 'pg';

const CHUNK = 50_000;
const WRITERS = 2;
const MERGE = [
  ['job_totals', 'setup, owner, owner_group, vo, status, minor_status, site, job_type'],
  ['job_label_counts', 'setup, kind, label, owner, owner_group, vo, status, site'],
  ['job_block_counts', 'setup, block, owner, vo, status, site'],
];

/**
 * Eight of ten jobs are alice's; fifty other owners in three groups have the rest. They ask for 1 to 8 processors and for memory
 * in 16 ways, with ten priorities; 500 have a name in common.
 */
const ADD = `
  with added as (
    insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, app_status, name, job_group,
      job_type, site, priority, cpu_time, verified, submission_time, last_update, processors, min_ram_mb)
    select 'Prod', owner, '/DC=org/DC=grid/CN=' || owner, owner_group, 'vo', 'Waiting',
      'Pilot Agent Submission', 'Unknown', 'name-' || n / 500, 'group-' || n / 5000, 'User',
      'ANY', n * 7 % 10, 86400, true, at, at, (array[1, 1, 1, 2, 4, 8])[1 + n % 6], 500 * (n / 6 % 4)
    from generate_series($1::int, $2::int) n,
      lateral (select case when n % 10 < 8 then 'alice' else 'owner-' || n / 10 % 50 end as owner,
        case when n % 10 < 8 then 'grid_user' else (array['grid_user', 'grid_share', 'grid_adm'])[1 + n / 10 % 3] end
          as owner_group,
        timestamptz '2026-01-01' + n * interval '1 second' as at) as of_job
    returning jid
  )
  insert into job_descriptions (jid, manifest) select jid, '{"Executable":"/bin/true"}' from added`;

/** Adds `count` waiting jobs and brings counters and statistics into the state of a table that has stood for a while. */
export async function fillQueue(database, count) {
  let next = 1;
  const write = async () => {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    try {
      while (next <= count) {
        const from = next;
        next += CHUNK;
        await client.query(ADD, [from, Math.min(count, from + CHUNK - 1)]);
      }
    } finally {
      await client.end();
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
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

/** Jobs that were given to an executor wait again. */
export async function requeue(database) {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    await client.query(
      `update jobs set status = 'Waiting', minor_status = 'Pilot Agent Submission', site = 'ANY', executor = null
        where executor is not null`,
    );
    await client.query('vacuum jobs');
  } finally {
    await client.end();
  }
}
