import { type StatementText } from '../statements/catalogue-statements.repository.js';
import { VALUE_COLUMN } from '../metadata/metadata-field.js';
import type { LabelRange } from '../totals/visible-part.repository.js';
import type { MatchPlan, MatchStep } from './match-plan.js';
import { inLabels, predicate } from './match-text.repository.js';

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
  if (!plan.hidden) return product;
  const lo = text.bind(plan.hidden.lo, 'bytea[]');
  const hi = text.bind(plan.hidden.hi, 'bytea[]');
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

function inRange(text: StatementText, column: string, range: LabelRange): string {
  return inLabels(column, { lo: text.bind(range.lo, 'bytea'), hi: text.bind(range.hi, 'bytea') });
}

function wholeRange(text: StatementText, { lo, hi }: LabelRange): string {
  return `catalogue_spans(catalogue_span(${text.bind(lo, 'bytea')}, ${text.bind(hi, 'bytea')}))`;
}
