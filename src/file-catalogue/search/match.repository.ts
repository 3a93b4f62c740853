import type { Queryable } from '#src/platform/index.js';
import { StatementText } from '../catalogue-statements.repository.js';
import type { MetadataCondition } from '../metadata/metadata-condition.js';
import { VALUE_COLUMN, type FieldType, type StoredValue } from '../metadata/metadata-field.js';
import type { LabelRange } from '../totals/visible-part.repository.js';
import {
  arrange,
  type FieldConditions,
  type MatchPlan,
  type MatchStep,
  PLAN_LIMITS,
  type SegmentAccess,
} from './match-plan.js';

const CAST: Record<FieldType, string> = {
  int: 'bigint',
  float: 'double precision',
  string: 'text',
  date: 'bigint',
};
/** Adds nothing, and keeps the planner from using the column's index (it prefers it where it is 100 times slower). */
const NEUTRAL: Record<FieldType, string> = {
  int: '+ 0',
  float: '+ 0',
  string: "|| ''",
  date: '+ 0',
};
/** When every condition has many segments, a second look counts this many times more of them. */
const SECOND_LOOK = 25;

/** Values of the fields that hold on a directory: set on it or on one above it. */
export async function readChainValues(
  source: Queryable,
  directoryIds: readonly number[],
): Promise<Map<number, StoredValue>> {
  const rows = await source.query<{ field_id: number; value: StoredValue } & ValueRow>({
    name: 'catalogue-chain-values',
    text: `select field_id, int_value, float_value, text_value from catalogue_segment
           where directory_id = any($1::integer[])`,
    values: [directoryIds],
  });
  return new Map(rows.map((row) => [row.field_id, valueOf(row)]));
}

/** The three columns of a value. */
export interface ValueRow {
  int_value: number | bigint | null;
  float_value: number | null;
  text_value: string | null;
}

/** The value of a row. */
export function valueOf(row: ValueRow): StoredValue {
  return row.int_value ?? row.float_value ?? row.text_value ?? '';
}

/** Looks how selective the conditions are (a bounded look) and chooses the order. */
export async function planMatches(
  source: Queryable,
  groups: readonly FieldConditions[],
  place: { range: LabelRange; wholeTree: boolean; hidden: readonly LabelRange[] },
): Promise<MatchPlan> {
  const [only] = groups;
  if (!only) return { ...place, intersect: [], probe: [] };
  if (groups.length === 1 && place.wholeTree) {
    return { ...place, intersect: [{ ...only, access: 'value', cost: 0 }], probe: [] };
  }
  let steps = await countSegments(source, groups, place, PLAN_LIMITS.fewSegments);
  if (groups.length > 1 && steps.every((step) => step.cost === Infinity)) {
    steps = await countSegments(source, groups, place, PLAN_LIMITS.fewSegments * SECOND_LOOK);
  }
  return { ...place, ...arrange(steps) };
}

async function countSegments(
  source: Queryable,
  groups: readonly FieldConditions[],
  place: { range: LabelRange; wholeTree: boolean },
  limit: number,
): Promise<MatchStep[]> {
  const text = new StatementText();
  const columns = groups.map((group, index) => {
    const field = `field_id = ${text.bind(group.field.id, 'smallint')}`;
    const byValue = `select from catalogue_segment where ${field} and ${predicate(text, group, '')}`;
    const byLabel = place.wholeTree
      ? undefined
      : `select from catalogue_segment where ${field} and ${inRange(text, 'lo', place.range)}`;
    const count = (from: string): string =>
      `(select count(*) from (${from} limit ${limit + 1}) bounded)`;
    return `${count(byValue)} as v${index}, ${byLabel ? count(byLabel) : 'null'} as l${index}`;
  });
  const [row = {}] = await source.query<Record<string, number | null>>(
    text.statement(`select ${columns.join(', ')}`),
  );
  return groups.map((group, index) => {
    const byValue = bounded(row[`v${index}`], limit);
    const byLabel = bounded(row[`l${index}`], limit);
    const access: SegmentAccess = byLabel < byValue ? 'label' : 'value';
    return { ...group, access, cost: Math.min(byValue, byLabel) };
  });
}

function bounded(count: number | null | undefined, limit: number): number {
  return count === null || count === undefined || count > limit ? Infinity : count;
}

/**
 * Text of common table expressions whose last one, `matched`, has one column `span`: the ranges of labels whose
 * directories fulfil all conditions and may be seen, in order.
 */
export function matchedRanges(text: StatementText, plan: MatchPlan): string {
  const steps = plan.intersect.map((step) => segmentsOf(text, step, plan));
  const product = steps.length > 0 ? steps.join(' * ') : wholeRange(text, plan.range);
  const parts = [`base as (select unnest(${minusHidden(text, product, plan)}) as span)`];
  let last = 'base';
  for (const [index, step] of plan.probe.entries()) {
    parts.push(`probed${index} as (${probe(text, step, last)})`);
    last = `probed${index}`;
  }
  parts.push(`matched as materialized (select span from ${last} order by span)`);
  return parts.join(', ');
}

function segmentsOf(text: StatementText, step: MatchStep, plan: MatchPlan): string {
  const field = `field_id = ${text.bind(step.field.id, 'smallint')}`;
  const where =
    step.access === 'label'
      ? `${field} and ${inRange(text, 'lo', plan.range)} and ${predicate(text, step, '', true)}`
      : `${field} and ${predicate(text, step, '')}${plan.wholeTree ? '' : ` and ${inRange(text, `(lo || '')`, plan.range)}`}`;
  return `coalesce((select range_agg(catalogue_span(lo, hi)) from catalogue_segment where ${where}), '{}')`;
}

function minusHidden(text: StatementText, product: string, plan: MatchPlan): string {
  if (plan.hidden.length === 0) return product;
  const lo = text.bind(
    plan.hidden.map((range) => range.lo),
    'bytea[]',
  );
  const hi = text.bind(
    plan.hidden.map((range) => range.hi),
    'bytea[]',
  );
  return `(${product}) - (select range_agg(catalogue_span(lo, hi)) from unnest(${lo}, ${hi}) h (lo, hi))`;
}

/**
 * What of the ranges fulfils a further condition: segments that begin inside, and the one that begins before a range
 * and reaches into it. As segments of a field never overlap, only the last one before a range can do so.
 */
function probe(text: StatementText, step: MatchStep, from: string): string {
  const field = `s.field_id = ${text.bind(step.field.id, 'smallint')}`;
  const column = VALUE_COLUMN[step.field.type];
  return `
    select p.span from ${from} m cross join lateral (
      select catalogue_span(s.lo, s.hi) * m.span as span from catalogue_segment s
      where ${field} and s.lo >= lower(m.span) and s.lo < upper(m.span) and ${predicate(text, step, 's.', true)}
      union all
      select catalogue_span(s.lo, s.hi) * m.span from (
        select s.lo, s.hi, s.${column} from catalogue_segment s
        where ${field} and s.lo < lower(m.span) order by s.lo desc limit 1) s
      where s.hi > lower(m.span) and ${predicate(text, step, 's.', true)}
    ) p`;
}

function predicate(
  text: StatementText,
  { field, conditions }: FieldConditions,
  alias: string,
  hideColumn = false,
): string {
  const column = `${alias}${VALUE_COLUMN[field.type]}`;
  const subject = hideColumn ? `(${column} ${NEUTRAL[field.type]})` : column;
  return conditions.map((condition) => comparison(text, subject, condition)).join(' and ');
}

function comparison(text: StatementText, subject: string, condition: MetadataCondition): string {
  const { operator, operands, field } = condition;
  const cast = CAST[field.type];
  if (operator === 'in') return `${subject} = any(${text.bind(operands, `${cast}[]`)})`;
  if (operator === 'nin') return `${subject} <> all(${text.bind(operands, `${cast}[]`)})`;
  return `${subject} ${operator === '!=' ? '<>' : operator} ${text.bind(operands[0], cast)}`;
}

function inRange(text: StatementText, column: string, range: LabelRange): string {
  return `${column} >= ${text.bind(range.lo, 'bytea')} and ${column} < ${text.bind(range.hi, 'bytea')}`;
}

function wholeRange(text: StatementText, { lo, hi }: LabelRange): string {
  return `catalogue_spans(catalogue_span(${text.bind(lo, 'bytea')}, ${text.bind(hi, 'bytea')}))`;
}
