import { Injectable } from '@nestjs/common';
import { currentCaller, Problem, stringifyJson } from '#src/kernel/index.js';
import { Database, sqlState } from '#src/database/index.js';
import { cursorText, feedColumns, feedCursorOf } from '#src/events/index.js';
import { keyColumn, type JobAttribute } from '../state/job-attributes.js';
import { JOB_RECORD } from '../state/job-record.sql.js';
import { OWNERSHIP, type RecordedJob } from '../state/jobs.repository.js';
import {
  JOBS,
  PASSED_JOBS,
  sourceOf,
  whereOf,
  type Selection,
  type Source,
} from './job-conditions.sql.js';
import { COUNTERS } from './job-counters.repository.js';
import { afterCondition, cursorColumns, orderBy } from './job-order.sql.js';
import { PreparedNames } from './prepared-names.js';
import type { Visibility } from '../access/job.policy.js';
import type { JobsWanted } from './list-jobs.query.js';
import { SharedReads } from './shared-reads.js';

/** A job of a page: its record as JSON text and, where the page may show jobs of strangers, whose it is. */
export interface ListedJob {
  record: string;
  ownership?: Omit<RecordedJob, 'record'>;
}

/** A page of jobs, the number of all matches, and where the page ended. */
export interface JobPage {
  entries: number;
  jobs: ListedJob[];
  /** From where a feed goes on without a gap and without repeating. */
  position: string;
  /** Sort values of the last job; undefined when nothing follows. */
  end?: (string | null)[];
}

/** How many jobs match and, where the jobs themselves were counted, between which ids they stand. */
interface Extent {
  entries: number;
  position: string;
  lowest?: number;
  highest?: number;
}

/** Of the same moment as the rows beside which they stand. */
const FEED = feedColumns('jobs');

type FeedRow = Parameters<typeof feedCursorOf>[0];
type PageRow = RecordedJob & FeedRow & Record<string, unknown>;

/** The database, or one state of it. */
type Reading = Pick<Database, 'query'>;

/** Ids of one block of the counters share their upper bits (see the migration). */
const BLOCK_BITS = 13;
/** From this offset on a page is found by ids first. */
const DEEP = 500;
const INDEXED = new Set([
  'status',
  'site',
  'name',
  'job_group',
  'owner_group',
  'owner',
  'array_id',
]);

/**
 * True when it is better to collect and sort all matches than to walk the jobs in order until the page is full. One
 * indexed condition gives its matches in order; the more conditions, the further apart they may stand.
 */
function isFew(query: JobsWanted, visibility: Visibility, found: Extent): boolean {
  const { entries } = found;
  if (found.highest !== undefined && found.lowest !== undefined) {
    // The walk passes this many jobs before the page is full, when the matches are spread evenly.
    const walked = ((query.startJob + query.maxJobs) * (found.highest - found.lowest)) / entries;
    return entries < walked;
  }
  const columns = query.filters.map(({ attribute }) => attribute.sql);
  if (visibility.vo !== undefined) columns.push('vo');
  else if (visibility.owner !== undefined) columns.push('owner');
  if (columns.length <= 1 && columns.every((column) => INDEXED.has(column))) return false;
  return entries <= (columns.length === 2 ? 300 : 2_000);
}

/**
 * Lists, totals and summaries. Totals come from the counters that triggers keep in the same transaction, so they
 * are exact and do not grow with the number of jobs; only filters that the counters do not know count rows.
 */
@Injectable()
export class JobListRepository {
  /** On counters only: on the jobs themselves the best plan depends on the values. */
  private readonly names = new PreparedNames('jobs-counters');
  private readonly counts: SharedReads<readonly unknown[]>;

  constructor(private readonly database: Database) {
    this.counts = new SharedReads(database.permits);
  }

  /**
   * One page. When the jobs themselves are counted, the page is looked for between the first and the last of them, and so both
   * are of one moment: a job that came to them in between would be neither on the page nor behind its position in the feed.
   */
  async list(query: JobsWanted, visibility: Visibility): Promise<JobPage> {
    return sourceOf(query, []) === JOBS
      ? this.database.snapshot((state) => this.page(query, visibility, state))
      : this.page(query, visibility, this.database);
  }

  private async page(
    query: JobsWanted,
    visibility: Visibility,
    database: Reading,
  ): Promise<JobPage> {
    const found = await this.extent(query, visibility, database);
    const { entries } = found;
    if (entries === 0 || query.startJob >= entries)
      return { entries, position: found.position, jobs: [] };
    const jump = await this.jump(query, visibility, database);
    const areFew = isFew(query, visibility, found);
    const where = whereOf(query, visibility, areFew ? JOBS : PASSED_JOBS);
    const values = [...where.values];
    const conditions = [where.sql];
    if (query.after) conditions.push(afterCondition(query.sort, query.after, values));
    if (jump.below !== undefined) conditions.push(`jid < $${values.push(String(jump.below))}`);
    // A walk in the order of ids need not pass what stands before the first match.
    if (found.highest !== undefined) {
      conditions.push(
        `jid between $${values.push(found.lowest)} and $${values.push(found.highest)}`,
      );
    }
    const limit = values.push(query.maxJobs + 1);
    const offset = values.push(jump.offset);
    const order = orderBy(query.sort, areFew);
    const page = `${conditions.join(' and ')} order by ${order} limit $${limit} offset $${offset}`;
    // Ids alone are skipped in an index; only the rows of the page are fetched.
    const isDeep = jump.offset > DEEP;
    const isOfOthers = visibility.owner === undefined || visibility.vo !== undefined;
    const selected = isDeep
      ? `jid in (select jid from jobs where ${page}) order by ${order}`
      : page;
    const rows = await rowsOf(database, query, {
      text: `select ${JOB_RECORD} as record, ${isOfOthers ? `${OWNERSHIP}, ` : ''}${FEED}, ${cursorColumns(query.sort)} from jobs where ${selected}`,
      values,
    });
    const jobs = rows.slice(0, query.maxJobs).map((row): ListedJob => {
      return isOfOthers ? { record: row.record, ownership: row } : { record: row.record };
    });
    const last = rows[jobs.length - 1];
    const hasMore = rows.length > query.maxJobs && last !== undefined;
    const end = query.sort.map((_key, index) => (last?.[`sort_${index}`] ?? null) as string | null);
    const position = rows[0] ? cursorText(feedCursorOf(rows[0])) : found.position;
    return { entries, jobs, position, ...(hasMore ? { end } : {}) };
  }

  /** The number of matches, exactly. */
  private async extent(
    selection: Selection,
    visibility: Visibility,
    database: Reading,
  ): Promise<Extent> {
    const source = sourceOf(selection, []);
    const where = whereOf(selection, visibility, source);
    const sums =
      source === JOBS
        ? 'count(*) as total, min(jid + 0) as lowest, max(jid + 0) as highest'
        : 'coalesce(sum(n), 0)::bigint as total';
    const text = `select ${sums}, ${FEED} from ${source.table} where ${where.sql}`;
    const rows = await this.counted<FeedRow & { total: number; lowest?: number; highest?: number }>(
      { text, values: where.values },
      source,
      database,
    );
    const row = rows[0] as (typeof rows)[0]; // a sum has one row
    const entries = Number(row.total);
    const position = cursorText(feedCursorOf(row));
    if (row.lowest === undefined || row.lowest === null) return { entries, position };
    return { entries, position, lowest: Number(row.lowest), highest: Number(row.highest) };
  }

  /** Numbers of jobs by the values of attributes, joined by `|`; at most `limit` of them. */
  async summary(
    selection: Selection,
    visibility: Visibility,
    by: { groups: readonly JobAttribute[]; limit: number },
  ): Promise<Map<string, number>> {
    const { source, values, counted, columns, sum } = countsOf(selection, visibility, by);
    const text = `select concat_ws('|', ${columns.join(', ')}) as key, ${sum} as total ${counted}
        group by 1 having ${sum} <> 0 order by 1 limit ${by.limit}`;
    const asked = { text, values };
    const rows = await this.counted<{ key: string; total: number }>(asked, source, this.database);
    return new Map(rows.map(({ key, total }) => [key, total]));
  }

  /** A caller asks the same at the same time: pages that show what somebody has are loaded anew in each tab. Nobody waits for another caller. */
  private async counted<Row>(
    { text, values }: { text: string; values: unknown[] },
    source: Source,
    database: Reading,
  ): Promise<readonly Readonly<Row>[]> {
    if (database !== this.database) return database.query<Row & object>({ text, values });
    const statement = { text, values, ...(source !== JOBS && this.names.of(text)) };
    const key = stringifyJson([currentCaller()?.key, text, values]);
    const ask = () => this.database.query(statement);
    return (await this.counts.get(key, ask)) as readonly Row[];
  }

  /** How many values each of the attributes has among so many of their counts. */
  async spread(
    selection: Selection,
    visibility: Visibility,
    by: { groups: readonly JobAttribute[]; limit: number },
  ): Promise<number[]> {
    const { values, counted, columns, sum } = countsOf(selection, visibility, by);
    const named = columns.map((column, index) => `${column} as value_${index}`);
    const [row] = await this.database.query<Record<string, number>>({
      text: `select ${columns.map((_column, index) => `count(distinct value_${index}) as n${index}`).join(', ')}
        from (select ${named.join(', ')} ${counted}
          group by ${columns.map((_column, index) => index + 1).join(', ')} having ${sum} <> 0
          limit ${by.limit}) c`,
      values,
    });
    return columns.map((_column, index) => Number(row?.[`n${index}`] ?? 0));
  }

  /** Where a deep page starts: whole blocks are skipped by their counters, the rest by walking. */
  private async jump(
    query: JobsWanted,
    visibility: Visibility,
    database: Reading,
  ): Promise<{ below?: bigint; offset: number }> {
    const [key] = query.sort;
    const isNewestFirst = key?.attribute.type === 'jid' && key.descending;
    const { columns } = COUNTERS.job_block_counts;
    const isCounted =
      !query.fromDate &&
      !query.toDate &&
      visibility.group === undefined &&
      query.filters.every(({ attribute }) => columns.includes(attribute.column ?? ''));
    if (!isNewestFirst || !isCounted || query.startJob < 1 << BLOCK_BITS) {
      return { offset: query.startJob };
    }
    const where = whereOf(query, visibility, PASSED_JOBS);
    const blocks = await database.query<{ block: number; total: number }>({
      text: `select block, sum(n)::bigint as total from job_block_counts where ${where.sql}
        group by block having sum(n) <> 0 order by block desc`,
      values: where.values,
    });
    let offset = query.startJob;
    for (const { block, total } of blocks) {
      if (offset < total) return { below: BigInt(block + 1) << BigInt(BLOCK_BITS), offset };
      offset -= total;
    }
    return { offset: query.startJob };
  }
}

async function rowsOf(
  database: Reading,
  query: JobsWanted,
  statement: { text: string; values: unknown[] },
): Promise<PageRow[]> {
  try {
    return await database.query(statement);
  } catch (cause) {
    // A cursor that nobody was given: its values are no values of their columns.
    if (query.after && sqlState(cause)?.startsWith('22')) {
      throw Problem.invalidField('after', 'is not a cursor of this list');
    }
    throw cause;
  }
}

/** What summaries are put together from: the columns to group by, the sum, and `from … where …`. */
function countsOf(
  selection: Selection,
  visibility: Visibility,
  { groups, limit }: { groups: readonly JobAttribute[]; limit: number },
): { source: Source; values: unknown[]; counted: string; columns: string[]; sum: string } {
  const source = sourceOf(selection, groups);
  const where = whereOf(selection, visibility, source);
  const rows = `from ${source.table} where ${where.sql}`;
  // Each job is a count of its own: no more of them need be looked at.
  const isEach = groups.some(({ type }) => type === 'jid');
  return {
    source,
    values: where.values,
    counted: isEach ? `from (select * ${rows} limit ${limit}) j` : rows,
    columns: groups.map((attribute) => keyColumn(attribute, source.column(attribute))),
    sum: source === JOBS ? 'count(*)' : 'sum(n)::bigint',
  };
}
