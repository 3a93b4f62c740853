import type { FeedSource } from './event-log.entity.js';
import type { FeedCursor } from './feed-cursor.js';

/**
 * The part of a statement that logs what the statement changes: `rows` selects `event` (json: an event, or several as
 * `EventsAlike`), `n` (how many events that is) and what they are ordered by. One row for all of them; none when there are none.
 * Whoever runs it calls `EventLog.wrote`.
 */
export function logEvents(source: FeedSource, rows: string, order: string): string {
  return `insert into event_log (source, xact, written_at, n, events)
    select '${source}', pg_current_xact_id()::text::bigint, clock_timestamp(), sum(n), json_agg(event order by ${order})
    from (${rows}) e having count(*) > 0`;
}

/**
 * A statement that logs what has been put together elsewhere: $1 is how many events there are, $2 the JSON text of an array of so
 * many. Whoever runs it calls `EventLog.wrote`.
 */
export function logRow(source: FeedSource): string {
  return `insert into event_log (source, xact, written_at, n, events)
    values ('${source}', pg_current_xact_id()::text::bigint, clock_timestamp(), $1::integer, $2::json)`;
}

/** Milliseconds since 1970 of a column, as events have times. */
export function epochMs(column: string): string {
  return `(date_part('epoch', ${column}) * 1000)::bigint`;
}

/**
 * Columns of a select that say where the feed stands at that very moment: `feed_position`, and `feed_seen`, the snapshot of the
 * statement, when it sees something that has no number yet. Together they are a cursor (`feedCursorOf`).
 */
export function feedColumns(source: FeedSource): string {
  const of = `from event_positions p where p.source = '${source}'`;
  return `(select p.position ${of}) as feed_position,
    (select case when exists (${FRESH}) then pg_current_snapshot()::text end ${of}) as feed_seen`;
}

/** The cursor of a row with `feedColumns`. */
export function feedCursorOf(row: { feed_position: number; feed_seen: string | null }): FeedCursor {
  const { feed_position: position, feed_seen: seen } = row;
  return seen === null ? { position } : { position, seen };
}

const XMIN = 'pg_snapshot_xmin(pg_current_snapshot())::text::bigint';
/**
 * Of `event_log e` beside `event_positions p`. Transactions older than the floor have been looked at to the last, so that dead
 * rows before it are passed by. After a restore into another cluster, which counts its transactions anew, the floor is of the
 * future and means nothing.
 */
export const FROM_FLOOR = `e.xact >= case when p.floor > ${XMIN} then 0 else p.floor end`;
/** What has no number of the source of `event_positions p`. */
export const FRESH = `select from event_log e where e.source = p.source and e.last is null and ${FROM_FLOOR}`;
/** The floor that a statement may set that has numbered all it saw. */
export const FLOOR = XMIN;
