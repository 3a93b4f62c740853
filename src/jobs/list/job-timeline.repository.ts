import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import type { Visibility } from '../access/job.policy.js';
import type { JobState } from '../state/job-state.js';
import { keyColumn, type JobAttribute } from '../state/job-attributes.js';
import { whereOf, type Selection } from './job-conditions.sql.js';
import type { TimelineSteps } from './job-timeline.query.js';

/** So many jobs more (or fewer) are in a state at a step than at the step before. */
export interface TimelineChange {
  step: number;
  status: JobState;
  group: string | null;
  change: number;
}

/** How the numbers of jobs in their states have changed in time, from the histories of jobs. */
@Injectable()
export class JobTimelineRepository {
  constructor(private readonly database: Database) {}

  /**
   * The changes of each step, at most `limit` of them; step 0 has all that was before. Jobs that have not moved since
   * the first step are counted as they are; only the moves of the others are read.
   */
  async changes(
    selection: Selection,
    visibility: Visibility,
    by: { steps: TimelineSteps; group: JobAttribute | undefined; limit: number },
  ): Promise<TimelineChange[]> {
    const { steps, group, limit } = by;
    const { sql, values } = whereOf(selection, visibility);
    const from = `$${values.push(steps.from)}::timestamptz`;
    const step = `$${values.push(steps.step)}::float8`;
    const last = `$${values.push(steps.count - 1)}::integer`;
    const key = group ? keyColumn(group) : 'null::text';
    return this.database.query<TimelineChange>({
      text: `with changed as materialized (
          select jid, ${key} as key from jobs where ${sql} and last_update > ${from}
        ), moves as (
          select h.time, h.status, c.key,
            lag(h.status) over (partition by h.jid order by h.id) as before
          from changed c join job_history h on h.jid = c.jid
        ), counted as (
          select greatest(0, ceil(extract(epoch from time - ${from}) / ${step}))::integer as step,
            key, status, before, count(*)::integer as n
          from moves where status is distinct from before group by 1, 2, 3, 4
        ), changes as (
          select c.step, x.status, c.key, x.n
          from counted c cross join lateral (values (c.status, c.n), (c.before, -c.n)) as x (status, n)
          where x.status is not null
          union all
          select 0, status, ${key}, count(*)::integer from jobs
          where ${sql} and last_update <= ${from} group by 2, 3
        )
        select step, status, key as "group", sum(n)::integer as change from changes
        where step <= ${last} group by 1, 2, 3 having sum(n) <> 0
        order by 1, 2, 3 limit ${limit}`,
      values,
    });
  }
}
