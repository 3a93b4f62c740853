import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import type { Holder } from './job.entity.js';
import { MINOR } from './job-state.js';
import type { Jid } from './job.js';
import { BEFORE, noteMoves } from './logged-move.sql.js';

/** What is written with a hold or a release. */
export interface HoldChange {
  jid: Jid;
  /** Who changes it, for the history. */
  source: string;
  now: Date;
}

/** Holds of waiting jobs: the queue passes a held job by until it is released. */
@Injectable()
export class HoldRepository {
  constructor(private readonly database: Database) {}

  /** Holds a job; a hold of the owner may become one of an administrator, never the other way. False: it does not wait. */
  async hold({ jid, source, now }: HoldChange, by: Exclude<Holder, 'jobs'>): Promise<boolean> {
    const minor = by === 'owner' ? MINOR.heldByOwner : MINOR.heldByAdministrator;
    const rows = await this.database.query({
      name: 'jobs-hold',
      text: HOLD,
      values: [String(jid), minor, source, now, by],
    });
    return rows.length > 0;
  }

  /** Releases a job; what an administrator has held only with `all`. False: it does not wait. */
  async release({ jid, source, now }: HoldChange, all: boolean): Promise<boolean> {
    const rows = await this.database.query({
      name: 'jobs-release-held',
      text: RELEASE,
      values: [String(jid), MINOR.waiting, source, now, all, MINOR.waitingForJobs],
    });
    return rows.length > 0;
  }
}

/** A waiting job as it is found; it is changed when the condition is true of it. */
function change(heldBy: string, minor: string, condition: string, also = ''): string {
  return `
    with found as materialized (
      select j.jid, ${BEFORE} as before, ${condition} as is_changed
      from jobs j where j.jid = $1 and j.status = 'Waiting' for no key update of j
    ), noted as (
      update jobs j set held_by = ${heldBy}, minor_status = ${minor}, app_status = 'Unknown',
        last_update = greatest($4, j.last_update)
      from found where j.jid = found.jid and found.is_changed
      returning j.jid, j.status, j.minor_status as minor, j.app_status as app, j.site, j.last_update,
        found.before, 1 as n
    ), ${noteMoves('noted', '$3')}${also}
    select jid from found`;
}

const HOLD = change(
  '$5',
  '$2',
  `j.held_by is distinct from $5 and j.held_by is distinct from 'administrator'`,
);
/** A job that waits for others goes on to do so; news tells to look again, as what was seen here may have been old. */
const WAITS = `exists (select from job_dependencies d where d.jid = j.jid and d.outcome is distinct from 'met')`;
const RELEASE = change(
  `case when ${WAITS} then 'jobs' end`,
  `case when ${WAITS} then $6 else $2 end`,
  `(j.held_by = 'owner' or j.held_by = 'administrator' and $5)`,
  `, looked as (
      insert into job_dependency_news (jid, what, upto, owner)
      select jid, 'look', 0, owner from noted join jobs using (jid) where minor = $6
    )`,
);
