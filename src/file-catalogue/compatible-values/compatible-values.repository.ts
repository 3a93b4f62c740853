import type { Transaction } from '#src/database/index.js';
import { cursorRows, StatementText } from '../statements/catalogue-statements.repository.js';
import { PLAN_LIMITS, type MatchPlan } from '../matching/match-plan.js';
import { matchedRanges } from '../matching/match.repository.js';
import type { FieldType, ValueRow } from '../metadata/metadata-field.js';

/** One compatible value; rows come sorted by field name and value. */
export interface CompatibleValueRow extends ValueRow {
  name: string;
  type: FieldType;
  /** Matching directories with this value, when they were asked for. */
  directories: number | null;
  /** How many values the field has, and the last of them, when a bound was given. */
  total: number | null;
  last_int: number | bigint | null;
  last_float: number | null;
  last_text: string | null;
}

/** What of the compatible values is wanted. */
export interface ValuesWanted {
  /** At most so many values of each field. */
  maxValues?: number | undefined;
  /** With the number of directories of each value. */
  counts: boolean;
}

/**
 * Values that hold on at least one directory of the plan: set on it, or on one above it. Exact: the ranges of the
 * plan hold matching directories only (no over-approximation by common ancestors).
 */
export async function* readCompatibleValues(
  snapshot: Transaction,
  plan: MatchPlan,
  wanted: ValuesWanted,
): AsyncGenerator<CompatibleValueRow[]> {
  const text = new StatementText();
  const select = answerText(text, plan, wanted);
  const isLong = isUnbound(plan) && wanted.maxValues === undefined;
  if (!isLong) {
    const first = await snapshot.query<CompatibleValueRow>(
      text.statement(`${select} limit ${PLAN_LIMITS.firstRows}`),
    );
    yield first;
    if (first.length < PLAN_LIMITS.firstRows) return;
  }
  yield* cursorRows<CompatibleValueRow>(snapshot, {
    text: isLong ? select : `${select} offset ${PLAN_LIMITS.firstRows}`,
    values: text.values,
  });
}

const ORDER = 'order by name, int_value, float_value, text_value';

function answerText(text: StatementText, plan: MatchPlan, wanted: ValuesWanted): string {
  if (isUnbound(plan) && !wanted.counts && wanted.maxValues !== undefined) {
    return firstValues(text.bind(wanted.maxValues, 'bigint'));
  }
  const values = valuesText(text, plan, wanted);
  const counted = wanted.counts ? 'directories' : 'null::bigint as directories';
  const columns = `f.name, f.type, int_value, float_value, text_value, ${counted}`;
  if (wanted.maxValues === undefined) {
    return `${values.with} select ${columns}, null::bigint as total from (${values.select}) v
      join catalogue_field f on f.id = v.field_id ${ORDER}`;
  }
  const limit = text.bind(wanted.maxValues, 'bigint');
  return `${values.with} select * from (
      select ${columns}, row_number() over (partition by v.field_id order by int_value, float_value, text_value) as rank,
        count(*) over field as total, max(int_value) over field as last_int,
        max(float_value) over field as last_float, max(text_value) over field as last_text
      from (${values.select}) v join catalogue_field f on f.id = v.field_id
      window field as (partition by v.field_id)) ranked
    where rank <= ${limit} ${ORDER}`;
}

/** True when every value of the catalogue is compatible. */
function isUnbound(plan: MatchPlan): boolean {
  return plan.wholeTree && plan.intersect.length === 0 && plan.hidden === undefined;
}

/** The first values of every field, its last one and how many there are; costs what it shows. */
function firstValues(limit: string): string {
  const columns = ['int_value', 'float_value', 'text_value'];
  const some = (order: string, most: string): string =>
    columns
      .map(
        (column) => `(select int_value, float_value, text_value from catalogue_value
          where field_id = f.id and ${column} is not null order by ${column} ${order} limit ${most})`,
      )
      .join(' union all ');
  return `
    select f.name, f.type, v.int_value, v.float_value, v.text_value, null::bigint as directories,
      f.value_count as total, l.int_value as last_int, l.float_value as last_float, l.text_value as last_text
    from catalogue_field f
    cross join lateral (${some('', limit)}) v
    cross join lateral (${some('desc', '1')}) l
    where f.value_count > 0
    order by name, int_value, float_value, text_value`;
}

function valuesText(
  text: StatementText,
  plan: MatchPlan,
  wanted: ValuesWanted,
): { with: string; select: string } {
  if (isUnbound(plan) && !wanted.counts) {
    const select = 'select field_id, int_value, float_value, text_value from catalogue_value';
    return { with: '', select };
  }
  const ranges = `with ${matchedRanges(text, plan)}`;
  if (wanted.counts) return { with: `${ranges}, ${COUNTED_RANGES}`, select: COUNTED_VALUES };
  return {
    with: `${ranges}, size as materialized (select count(*) <= ${PLAN_LIMITS.manyRanges} as is_small from matched)`,
    select: distinctValues(text, plan),
  };
}

/**
 * The beginnings of a label are the labels of all directories above it (no ordinal is the beginning of another one),
 * so what holds at a label is found by one probe per beginning, and neighbours share most of theirs. Shorter ones
 * only: what is set at the label itself lies inside the range.
 */
function labelPrefixes(label: string): string {
  return `generate_series(1, length(${label}) - 1) n (bytes)`;
}

/** What the index of places holds, so that the table itself is not read. */
const COLUMNS = 'lo, hi, field_id, int_value, float_value, text_value';

const INSIDE = `cross join lateral (
    select ${COLUMNS} from catalogue_segment s where s.lo >= lower(m.span) and s.lo < upper(m.span) order by s.lo offset 0) s`;

function distinctValues(text: StatementText, plan: MatchPlan): string {
  const lo = text.bind(plan.range.lo, 'bytea');
  const hi = text.bind(plan.range.hi, 'bytea');
  const all = 's.field_id, s.int_value, s.float_value, s.text_value';
  return `
    select distinct field_id, int_value, float_value, text_value from (
      select ${all} from (
        select distinct substr(lower(m.span), 1, n.bytes) as lo
        from matched m cross join ${labelPrefixes('lower(m.span)')}
        where (select is_small from size)) place
      cross join lateral (
        select ${COLUMNS} from catalogue_segment s where s.lo = place.lo offset 0) s
      union all
      select ${all} from matched m ${INSIDE} where (select is_small from size)
      union all
      select ${all} from (
        select ${COLUMNS} from catalogue_segment where lo >= ${lo} and lo < ${hi}
        union all
        select s.* from ${labelPrefixes(lo)} cross join lateral (
          select ${COLUMNS} from catalogue_segment s where s.lo = substr(${lo}, 1, n.bytes) offset 0) s
      ) s
      where not (select is_small from size)
        and (select range_agg(span) from matched) && catalogue_span(s.lo, s.hi)
    ) touching`;
}

/** Every range with its number of directories. */
const COUNTED_RANGES = `counted as materialized (
  select m.span, d.directories from matched m cross join lateral (
    select count(*) as directories from catalogue_directory
    where label >= lower(m.span) and label < upper(m.span)) d)`;

/** A range that begins inside a subtree may reach beyond it, so every part is counted up to where its value ends. */
const COUNTED_VALUES = `
  select field_id, int_value, float_value, text_value, sum(directories)::bigint as directories from (
    select s.field_id, s.int_value, s.float_value, s.text_value,
      case when s.lo <= lower(m.span) and s.hi >= upper(m.span) then m.directories else (
        select count(*) from catalogue_directory
        where label >= greatest(s.lo, lower(m.span)) and label < least(s.hi, upper(m.span))) end as directories
    from counted m cross join lateral (
      select ${COLUMNS} from ${labelPrefixes('lower(m.span)')} cross join lateral (
        select ${COLUMNS} from catalogue_segment where lo = substr(lower(m.span), 1, n.bytes) offset 0) above
      union all
      select ${COLUMNS} from catalogue_segment where lo >= lower(m.span) and lo < upper(m.span)
    ) s
  ) touching
  where directories > 0
  group by field_id, int_value, float_value, text_value`;
