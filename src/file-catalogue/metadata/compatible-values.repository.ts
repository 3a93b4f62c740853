import type { Transaction } from '#src/platform/index.js';
import { cursorRows, StatementText } from '../catalogue-statements.repository.js';
import { PLAN_LIMITS, type MatchPlan } from '../search/match-plan.js';
import { matchedRanges, type ValueRow } from '../search/match.repository.js';
import type { FieldType } from './metadata-field.js';

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
export function readCompatibleValues(
  snapshot: Transaction,
  plan: MatchPlan,
  wanted: ValuesWanted,
): AsyncGenerator<CompatibleValueRow[]> {
  const text = new StatementText();
  if (isUnbound(plan) && !wanted.counts && wanted.maxValues !== undefined) {
    const select = firstValues(text.bind(wanted.maxValues, 'bigint'));
    return cursorRows(snapshot, { text: select, values: text.values });
  }
  const values = valuesText(text, plan, wanted);
  const counted = wanted.counts ? 'directories' : 'null::bigint as directories';
  const columns = `f.name, f.type, int_value, float_value, text_value, ${counted}`;
  const order = 'order by name, int_value, float_value, text_value';
  if (wanted.maxValues === undefined) {
    const select = `${values.with} select ${columns}, null::bigint as total from (${values.select}) v
      join catalogue_field f on f.id = v.field_id ${order}`;
    return cursorRows(snapshot, { text: select, values: text.values });
  }
  const limit = text.bind(wanted.maxValues, 'bigint');
  const select = `${values.with} select * from (
      select ${columns}, row_number() over (partition by v.field_id order by int_value, float_value, text_value) as rank,
        count(*) over field as total, max(int_value) over field as last_int,
        max(float_value) over field as last_float, max(text_value) over field as last_text
      from (${values.select}) v join catalogue_field f on f.id = v.field_id
      window field as (partition by v.field_id)) ranked
    where rank <= ${limit} ${order}`;
  return cursorRows(snapshot, { text: select, values: text.values });
}

/** True when every value of the catalogue is compatible. */
function isUnbound(plan: MatchPlan): boolean {
  return plan.wholeTree && plan.intersect.length === 0 && plan.hidden.length === 0;
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
  const ranges = matchedRanges(text, plan);
  return wanted.counts
    ? { with: `with ${ranges}`, select: COUNTED_VALUES }
    : {
        with: `with ${ranges}, size as (select count(*) as ranges from matched)`,
        select: distinctValues(text, plan),
      };
}

/** Segments that begin in a range, and the one of each field that begins before it and reaches into it. */
const TOUCHING_SEGMENTS = `
  select s.*, m.span from matched m cross join catalogue_field f cross join lateral (
    select s.* from catalogue_segment s
    where s.field_id = f.id and s.lo >= lower(m.span) and s.lo < upper(m.span) offset 0) s
  union all
  select s.*, m.span from matched m cross join catalogue_field f cross join lateral (
    select s.* from catalogue_segment s
    where s.field_id = f.id and s.lo < lower(m.span) order by s.lo desc limit 1) s
  where s.hi > lower(m.span)`;

const COUNTED_VALUES = `
  select s.field_id, s.int_value, s.float_value, s.text_value, sum(d.directories)::bigint as directories
  from (${TOUCHING_SEGMENTS}) s cross join lateral (
    select count(*) as directories from catalogue_directory
    where label >= greatest(s.lo, lower(s.span)) and label < least(s.hi, upper(s.span))) d
  where d.directories > 0
  group by s.field_id, s.int_value, s.float_value, s.text_value`;

function distinctValues(text: StatementText, plan: MatchPlan): string {
  const lo = text.bind(plan.range.lo, 'bytea');
  const hi = text.bind(plan.range.hi, 'bytea');
  return `
    select distinct field_id, int_value, float_value, text_value from (
      select t.field_id, t.int_value, t.float_value, t.text_value from (${TOUCHING_SEGMENTS}) t
      where (select ranges from size) <= ${PLAN_LIMITS.manyRanges}
      union all
      select s.field_id, s.int_value, s.float_value, s.text_value
      from catalogue_field f cross join lateral (
        select * from catalogue_segment s
        where s.field_id = f.id and (s.lo >= ${lo} and s.lo < ${hi}
          or s.lo = (select p.lo from catalogue_segment p
                     where p.field_id = f.id and p.lo < ${lo} order by p.lo desc limit 1))
        offset 0) s
      where (select ranges from size) > ${PLAN_LIMITS.manyRanges}
        and (select range_agg(span) from matched) && catalogue_span(s.lo, s.hi)
    ) touching`;
}
