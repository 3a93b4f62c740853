import { valueType } from '../state/job-value-types.js';
import type { SortKey } from './list-jobs.query.js';

/** By what a key sorts: what is not there comes before everything. */
function sortExpression({ attribute: { sql, isNullable, type } }: SortKey): string {
  return isNullable
    ? `coalesce(${sql}, ${type === 'time' ? `'-infinity'::timestamptz` : '0'})`
    : sql;
}

/** With few matches `+ 0` keeps the planner from walking the whole table in order to find them. */
export function orderBy(sort: readonly SortKey[], isFew: boolean): string {
  const keys = sort.map((key) => {
    const expression = isFew && key.attribute.type === 'jid' ? 'jid + 0' : sortExpression(key);
    return `${expression} ${key.descending ? 'desc' : 'asc'}`;
  });
  return keys.join(', ');
}

/** The values of a job by which a page goes on. */
export function cursorColumns(sort: readonly SortKey[]): string {
  return sort.map((key, index) => `${sortExpression(key)}::text as sort_${index}`).join(', ');
}

/** Jobs behind the cursor: a chain of comparisons, since directions may differ. */
export function afterCondition(
  sort: readonly SortKey[],
  after: readonly (string | null)[],
  values: unknown[],
): string {
  const terms: string[] = [];
  const equal: string[] = [];
  sort.forEach((key, index) => {
    const expression = sortExpression(key);
    const value = `$${values.push(after[index] ?? null)}::text::${valueType(key.attribute.type).sql}`;
    const compare = `${expression} ${key.descending ? '<' : '>'} ${value}`;
    terms.push([...equal, compare].join(' and '));
    equal.push(`${expression} = ${value}`);
  });
  return terms.length === 1 ? (terms[0] as string) : `(${terms.map((t) => `(${t})`).join(' or ')})`;
}
