import { Injectable } from '@nestjs/common';
import { parseJson } from '#src/kernel/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import { FLOOR, FRESH, FROM_FLOOR } from './log-events.sql.js';
import type { EventPositionEntity, EventsAlike, FeedSource } from './event-log.entity.js';

/** An event with its number; numbers of a source have no gaps. */
export interface LoggedEvent {
  position: number;
  event: unknown[];
  /** All that were written in one row with it, and where it stands among them. */
  row: readonly unknown[][];
  index: number;
}

/** Events, and how far the log went when they were read. */
export interface LoggedPage {
  events: LoggedEvent[];
  /** Everything up to here has been looked at. */
  upto: number;
  position: number;
  gone: number;
}

/** Rows that are numbered in one transaction. */
const NUMBERED_AT_ONCE = 5_000;
/** Rows that are removed in one transaction. */
const REMOVED_AT_ONCE = 500;

/** The statements of the event log. */
@Injectable()
export class EventLogRepository {
  constructor(private readonly database: Database) {}

  /** How far each source is numbered, and whether something is not numbered that is there for all. */
  async state(): Promise<(EventPositionEntity & { isFresh: boolean })[]> {
    return this.database.query({
      name: 'events-state',
      text: `select p.source, p.position, p.floor, p.gone, exists (${FRESH}) as "isFresh" from event_positions p`,
    });
  }

  /**
   * Numbers what is there for all and has no number, in the order in which it was written; answers the last number, and
   * whether there may be more. The caller holds the lock of the source. Rows of one job or path are in the order of
   * its changes: who changes it next has waited for the transaction that did so before.
   */
  async number(
    transaction: Transaction,
    source: FeedSource,
  ): Promise<{ position: number; isAll: boolean } | undefined> {
    const [row] = await transaction.query<{ position: number; isAll: boolean }>({
      name: 'events-number',
      text: NUMBER,
      values: [source, NUMBERED_AT_ONCE],
    });
    return row;
  }

  /**
   * Events behind `after`, oldest first, at most `limit`; without those that `seen`, a snapshot, has. `position` and `gone`
   * are those of the same moment.
   */
  async read(
    source: FeedSource,
    after: number,
    limit: number,
    seen?: string,
  ): Promise<LoggedPage | undefined> {
    const rows = await this.database.query<ReadRow>({
      name: 'events-read',
      text: READ,
      values: [source, after, limit, seen ?? null],
    });
    const [first] = rows;
    if (!first) return undefined;
    const { position, gone } = first;
    const upto = Math.min(first.upto, after + limit);
    const events = rows
      .flatMap((row) => eventsOf(row, after))
      .filter((event) => event.position <= upto);
    return { events, upto, position, gone };
  }

  /** Removes a part of what was written before; answers whether there may be more. */
  async remove(transaction: Transaction, source: FeedSource, before: Date): Promise<boolean> {
    const [removed] = await transaction.query<{ rows: number }>({
      name: 'events-remove',
      text: REMOVE,
      values: [source, before, REMOVED_AT_ONCE],
    });
    return removed?.rows === REMOVED_AT_ONCE;
  }
}

interface ReadRow {
  position: number;
  gone: number;
  upto: number;
  last: number | null;
  n: number;
  events: string;
}

function eventsOf({ last, n, events }: ReadRow, after: number): LoggedEvent[] {
  if (last === null) return [];
  const first = last - n + 1;
  return (parseJson(events) as (unknown[] | EventsAlike)[])
    .flatMap(eachOf)
    .map((event, index, row) => ({ position: first + index, event, row, index }))
    .filter(({ position }) => position > after);
}

function eachOf(written: unknown[] | EventsAlike): unknown[][] {
  if (Array.isArray(written)) return [written];
  const { first, all, last } = written;
  return first.map((value, index) => [value, ...all, last?.[index] ?? null]);
}

const NUMBER = `
  with fresh as materialized (
    select e.id, e.n, e.xact, sum(e.n) over (order by e.id)::bigint as upto
    from event_positions p join event_log e on e.source = p.source and e.last is null and ${FROM_FLOOR}
    where p.source = $1 order by e.id limit $2
  ), numbered as (
    update event_log e set last = p.position + f.upto
    from fresh f, event_positions p where p.source = $1 and e.id = f.id
  ), advanced as (
    update event_positions p set position = p.position + t.upto,
      floor = case when t.rows < $2 then ${FLOOR} else p.floor end
    from (select count(*) as rows, max(upto) as upto from fresh) t
    where p.source = $1 and t.rows > 0
    returning p.position, t.rows < $2 as "isAll"
  )
  select position, "isAll", pg_notify('feed_' || $1, position::text) from advanced`;

/** One row of the position at least; whole rows of events up to the first that reaches the limit. */
const READ = `
  select p.position, p.gone, b.upto, e.last, e.n, e.events
  from event_positions p cross join lateral (
    select coalesce(
      (select last from event_log where source = p.source and last >= $2::bigint + $3 order by last limit 1),
      p.position) as upto
  ) b left join lateral (
    select last, n, events::text as events from event_log l
    where l.source = p.source and l.last > $2::bigint and l.last <= b.upto
      and ($4::pg_snapshot is null or not pg_visible_in_snapshot(l.xact::text::xid8, $4::pg_snapshot))
  ) e on true
  where p.source = $1 order by e.last`;

/** What is behind `gone` is found by its number; where that stands is written last, so that nobody waits for long. */
const REMOVE = `
  with old as materialized (
    select e.id, e.last, e.written_at from event_positions p, lateral (
      select id, last, written_at from event_log
      where source = p.source and last > p.gone order by last limit $3) e
    where p.source = $1
  ), removed as (
    delete from event_log e using old
    where e.id = old.id and old.last < coalesce(
      (select min(last) from old where written_at >= $2), 9223372036854775807)
    returning e.last
  ), noted as (
    update event_positions p set gone = r.last
    from (select max(last) as last from removed) r
    where p.source = $1 and r.last is not null
  )
  select count(*) as rows from removed`;
