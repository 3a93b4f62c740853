import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import type { Jid } from '../state/job.js';

/** Who holds such a job looks after its run. */
const UNDER_WAY = ['Matched', 'Running', 'Stalled', 'Completing', 'Completed'];

/** Statements about runs whose files wait for their end. */
@Injectable()
export class LeftOutputsRepository {
  constructor(private readonly database: Database) {}

  /** Those of the runs that nobody has any more. */
  async over(
    runs: readonly { jid: Jid; attempt: number }[],
  ): Promise<{ jid: Jid; attempt: number }[]> {
    return this.database.query({
      name: 'jobs-outputs-over',
      text: `select r.jid, r.attempt from unnest($1::bigint[], $2::integer[]) r (jid, attempt)
        left join jobs j on j.jid = r.jid and j.attempt = r.attempt and j.executor is not null
          and j.status = any($3::text[])
        where j.jid is null`,
      values: [runs.map(({ jid }) => String(jid)), runs.map(({ attempt }) => attempt), UNDER_WAY],
    });
  }
}
