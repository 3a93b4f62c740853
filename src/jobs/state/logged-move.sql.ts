import { epochMs, logEvents, type LoggedEvent } from '#src/platform/index.js';
import type { Jid } from './job.js';
import type { JobState } from './job-state.js';

/** What a move changes of a job. */
export interface MovedPart {
  status: JobState;
  minorStatus: string;
  appStatus: string;
  site: string;
  lastUpdate: Date;
}

/** A move as the event log has it. */
export interface LoggedMove {
  position: number;
  jid: Jid;
  after: MovedPart;
  /** What the job was before; undefined for a new one. */
  before: MovedPart | undefined;
}

type PartRow = [JobState, string, string, string, number];
type MoveRow = [Jid, ...PartRow, PartRow | null];

/** What a job `j` is before a statement moves it. */
export const BEFORE = `json_build_array(j.status, j.minor_status, j.app_status, j.site, ${epochMs('j.last_update')})`;

/**
 * The part of a statement that logs moves, from a table expression with the columns jid, n (which of the steps of that job),
 * status, minor, app, site, last_update and before (json).
 */
export function logMoves(moves: string): string {
  const part = `status, minor, app, site, ${epochMs('last_update')}`;
  const event = `json_build_array(jid, ${part}, case when n = 1 then before end)`;
  return logEvents('jobs', `select jid, n, ${event} as event from ${moves}`, 'jid, n');
}

/** The move that an event of the log is. A further step begins where the step before it ended. */
export function loggedMove({ position, event, row, index }: LoggedEvent): LoggedMove {
  const [jid, ...rest] = event as MoveRow;
  const before = rest.pop() as PartRow | null;
  const [other, ...ended] = (row[index - 1] ?? [undefined]) as MoveRow;
  const from = before ?? (other === jid ? (ended as unknown as PartRow) : undefined);
  return {
    position,
    jid,
    after: partOf(rest as unknown as PartRow),
    before: from === undefined ? undefined : partOf(from),
  };
}

function partOf([status, minorStatus, appStatus, site, time]: PartRow): MovedPart {
  return { status, minorStatus, appStatus, site, lastUpdate: new Date(time) };
}
