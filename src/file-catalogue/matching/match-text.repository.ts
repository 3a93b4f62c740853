import type { MetadataCondition } from '../metadata/metadata-condition.js';
import { type StatementText } from '../statements/catalogue-statements.repository.js';
import { VALUE_COLUMN, type FieldType } from '../metadata/metadata-field.js';
import type { FieldConditions } from './match-plan.js';

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
/** Text that is true for segments whose value fulfils the conditions. `hideColumn` keeps value indexes out of the plan. */
export function predicate(
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

/** Text that is true for labels of [lo, hi), which are expressions. */
export function inLabels(column: string, { lo, hi }: { lo: string; hi: string }): string {
  return `${column} >= ${lo} and ${column} < ${hi}`;
}
