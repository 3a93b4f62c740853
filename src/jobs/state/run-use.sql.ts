/**
 * The part of a statement that writes the use of runs down, from a table expression with the columns jid, attempt, ended_at,
 * setup, vo, owner_group, owner, site, job_group, is_done and use (JSON of a RunUse; null for none). A run has one row, the first.
 */
export function noteUse(runs: string): string {
  return `insert into job_runs (jid, attempt, noted_at, ended_at, setup, vo, owner_group, owner, site, job_group, is_done,
      processors, wall_seconds, cpu_seconds, used_mb, given_mb)
    select jid, attempt, clock_timestamp(), ended_at, setup, vo, owner_group, owner, site, job_group, is_done, ${useColumns('use')}
    from ${runs} where use is not null
    on conflict do nothing`;
}

/** Processors, wall and CPU seconds, memory used and given of a RunUse as JSON. */
export function useColumns(use: string): string {
  return `(${use} ->> 'processors')::integer, (${use} ->> 'wallSeconds')::float8, (${use} ->> 'cpuSeconds')::float8,
    nullif((${use} ->> 'maxRssBytes')::float8, 0) / 1048576, nullif((${use} ->> 'memoryMb')::float8, 0)`;
}
