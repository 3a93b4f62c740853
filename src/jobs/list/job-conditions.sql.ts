import type { Visibility } from '../access/job.policy.js';
import type { JobAttribute } from '../state/job-attributes.js';
import { COUNTERS, type CounterTable } from './job-counters.repository.js';
import { valueType } from '../state/job-value-types.js';
import type { JobFilter, JobSelectionQuery } from './list-jobs.query.js';
import type { TimeSpan } from '#src/kernel/index.js';

/** Which jobs, as statements understand it. */
export type Selection = Pick<JobSelectionQuery, 'filters' | 'fromDate' | 'toDate'>;

/** A condition and its values. */
export interface Where {
  sql: string;
  values: unknown[];
}

/** A table that can tell of jobs. */
export interface Source {
  table: CounterTable | 'jobs';
  /** How the table writes an attribute. */
  column(attribute: JobAttribute): string;
  /** What every row of the table must be, beside the selection. */
  condition?: string;
}

/** The jobs themselves. */
export const JOBS: Source = { table: 'jobs', column: ({ sql }) => sql };
/** The same, passed in an order until a page is full: no index finds them. */
export const PASSED_JOBS: Source = { ...JOBS };
const TOTALS: Source = { table: 'job_totals', column: ({ sql }) => sql };

/** The smallest table that can answer: totals, counters by name or job group, or the jobs themselves. */
export function sourceOf(selection: Selection, groups: readonly JobAttribute[]): Source {
  if (selection.fromDate ?? selection.toDate) return JOBS;
  const used = [...selection.filters.map(({ attribute }) => attribute), ...groups];
  const isIn = (table: CounterTable, attribute: JobAttribute): boolean =>
    COUNTERS[table].columns.includes(attribute.column ?? '');
  if (used.every((attribute) => isIn('job_totals', attribute))) return TOTALS;
  const kinds = ['name', 'job_group'];
  const labels = new Set(used.flatMap(({ column }) => kinds.filter((kind) => kind === column)));
  const others = used.filter(({ column }) => !labels.has(column ?? ''));
  const [kind] = labels;
  if (labels.size !== 1 || !others.every((attribute) => isIn('job_label_counts', attribute))) {
    return JOBS;
  }
  return {
    table: 'job_label_counts',
    column: ({ column, sql }) => (column === kind ? 'label' : sql),
    condition: `kind = '${kind}'`,
  };
}

/** The condition that the jobs of a selection fulfil which somebody may see. */
export function whereOf(
  selection: Selection,
  visibility: Visibility,
  source: Source = JOBS,
): Where {
  const values: unknown[] = [visibility.setup];
  const conditions = ['setup = $1', ...(source.condition ? [source.condition] : [])];
  if (visibility.owner !== undefined) conditions.push(visibleTo(visibility, source, values));
  for (const filter of selection.filters) {
    conditions.push(filterCondition(filter, source.column(filter.attribute), values));
  }
  if (selection.fromDate) conditions.push(`last_update >= $${values.push(selection.fromDate)}`);
  if (selection.toDate) conditions.push(`last_update < $${values.push(selection.toDate)}`);
  return { sql: conditions.join(' and '), values };
}

function visibleTo({ owner, group, vo }: Visibility, source: Source, values: unknown[]): string {
  const ways = [`owner = $${values.push(owner)}`];
  if (group !== undefined) {
    const ofGroup = `owner_group = $${values.push(group.name)}`;
    ways.push(`(${ofGroup} and vo = $${values.push(group.vo)})`);
  }
  if (vo !== undefined) {
    const ofVo = `vo = $${values.push(vo)}`;
    // Jobs have an index by group and none by virtual organisation, so the groups are said as well.
    const groups = `select distinct owner_group from job_totals where setup = $1 and ${ofVo}`;
    ways.push(source === JOBS ? `(${ofVo} and owner_group = any (array(${groups})))` : ofVo);
  }
  return ways.length === 1 ? (ways[0] as string) : `(${ways.join(' or ')})`;
}

/** One value is compared by `=`, which lets an index give the order as well. */
function filterCondition(
  { attribute, values: wanted }: JobFilter,
  column: string,
  values: unknown[],
): string {
  if (attribute.type === 'time') {
    const spans = (wanted as TimeSpan[]).map(({ from, to }) => {
      return `${column} >= $${values.push(from)} and ${column} < $${values.push(to)}`;
    });
    return `(${spans.join(' or ')})`;
  }
  const type = valueType(attribute.type).sql;
  if (wanted.length === 1) return `${column} = $${values.push(wanted[0])}::${type}`;
  return `${column} = any ($${values.push(wanted)}::${type}[])`;
}
