import { epochMs, logEvents, type LoggedEvent } from '#src/events/index.js';
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

const PART = `status, minor, app, site, ${epochMs('last_update')}`;

/**
 * The part of a statement that logs moves, from a table expression with the columns jid, n (which of the steps of that job),
 * status, minor, app, site, last_update and before (json).
 */
export function logMoves(moves: string): string {
  const event = `json_build_array(jid, ${PART}, case when step = 1 then before end)`;
  const rows = `select jid, step, 1 as n, ${event} as event from (select *, n as step from ${moves}) m`;
  return logEvents('jobs', rows, 'jid, step');
}

/**
 * `logMoves` for many jobs that move alike: they are written together, the first step of all, then the second. A tenth of the text;
 * dearer for a single job.
 */
export function logMovesTogether(moves: string): string {
  const before = `case when step = 1 and bool_or(before is not null) then json_agg(before) end`;
  const event = `json_build_object('first', json_agg(jid), 'all', json_build_array(${PART}), 'last', ${before})`;
  return logEvents(
    'jobs',
    `select step, min(jid) as jid, count(*) as n, ${event} as event
      from (select *, n as step from ${moves} order by jid) m
      group by step, status, minor, app, site, last_update`,
    'step, jid',
  );
}

/**
 * The parts of a statement that write moves down, for the history and for the event log, from a table expression with the columns
 * of `logMoves` and source (SQL). They end with an insert.
 */
export function noteMoves(moves: string, source = 'source', log = logMoves): string {
  return `logged as (${log(moves)}
  ), remembered as (
    insert into job_history (jid, status, minor_status, app_status, time, source)
    select jid, status, minor, app, last_update, ${source} from ${moves} order by jid, n
  )`;
}

type MoveRows = readonly (readonly unknown[])[];

/** For each event of a row where the one before it of the same job stands; found once for all who ask. */
const EARLIER = new WeakMap<MoveRows, (number | undefined)[]>();

function earlierOf(row: MoveRows): (number | undefined)[] {
  const known = EARLIER.get(row);
  if (known) return known;
  const seen = new Map<unknown, number>();
  const earlier = row.map(([jid], index) => {
    const before = seen.get(jid);
    seen.set(jid, index);
    return before;
  });
  EARLIER.set(row, earlier);
  return earlier;
}

/** The move that an event of the log is. A further step begins where the step before it ended. */
export function loggedMove({ position, event, row, index }: LoggedEvent): LoggedMove {
  const [jid, ...rest] = event as MoveRow;
  const before = rest.pop() as PartRow | null;
  const earlier = earlierOf(row)[index];
  const ended = earlier === undefined ? undefined : (row[earlier] as MoveRow).slice(1);
  const from = before ?? (ended as PartRow | undefined);
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
