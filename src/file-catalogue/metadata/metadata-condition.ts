import { Problem, type Violation } from '#src/kernel/index.js';
import type { QueryValues } from '#src/http/index.js';
import {
  readOperand,
  type FieldType,
  type MetadataField,
  type StoredValue,
} from './metadata-field.js';

/** Operators of numbers and dates, and those of texts: the interface's rules 3 and 4, with `!=` and `nin`. */
export const COMPARISONS = ['<', '>', '=', '<=', '>=', '!='] as const;
export const MEMBERSHIPS = ['in', 'nin'] as const;
export type Operator = (typeof COMPARISONS | typeof MEMBERSHIPS)[number];

/** One `field=operation|value` of a query. `operands` is one value, or the list of `in` and `nin`. */
export interface MetadataCondition {
  readonly field: MetadataField;
  readonly operator: Operator;
  readonly operands: readonly StoredValue[];
}

/** Conditions of one request. */
export const MAX_CONDITIONS = 64;
/** Values of one `in` or `nin`. */
export const MAX_OPERANDS = 1000;

const OPERATORS: Record<FieldType, readonly Operator[]> = {
  int: COMPARISONS,
  float: COMPARISONS,
  date: COMPARISONS,
  string: MEMBERSHIPS,
};

/** A value with a bar: `key` must turn out to be a field. */
export interface RawCondition {
  readonly key: string;
  readonly operator: string;
  readonly operand: string;
}

/** True for a condition: a value with a bar belongs to the field of that name, whatever the name. */
export function isCondition(value: string): boolean {
  return value.includes('|');
}

/** The conditions of a query. Throws Problem 400 when there are too many. */
export function readConditions(query: QueryValues): RawCondition[] {
  const conditions = query.keys().flatMap((key) =>
    query.all(key).map((value) => {
      const bar = value.indexOf('|');
      return { key, operator: value.slice(0, bar).trim(), operand: value.slice(bar + 1) };
    }),
  );
  if (conditions.length <= MAX_CONDITIONS) return conditions;
  throw Problem.invalid([], `More than ${MAX_CONDITIONS} conditions in one request`);
}

/** Gives the raw conditions their fields. Throws Problem 400 listing every fault. */
export function bindConditions(
  raw: readonly RawCondition[],
  fields: ReadonlyMap<string, MetadataField>,
): MetadataCondition[] {
  const violations: Violation[] = [];
  const bound: MetadataCondition[] = [];
  for (const condition of raw) {
    const result = bind(condition, fields.get(condition.key));
    if ('fault' in result) violations.push({ field: condition.key, problem: result.fault });
    else bound.push(result);
  }
  if (violations.length > 0) throw Problem.invalid(violations);
  return bound;
}

/** True when the value fulfils the condition; a directory without a value never does. */
export function isFulfilled(condition: MetadataCondition, value: StoredValue | undefined): boolean {
  if (value === undefined) return false;
  const { operator, operands } = condition;
  const operand = operands[0] as StoredValue;
  switch (operator) {
    case '<':
      return value < operand;
    case '>':
      return value > operand;
    case '<=':
      return value <= operand;
    case '>=':
      return value >= operand;
    case '=':
    case 'in':
      return operands.includes(value);
    case '!=':
    case 'nin':
      return !operands.includes(value);
  }
}

function bind(
  raw: RawCondition,
  field: MetadataField | undefined,
): MetadataCondition | { fault: string } {
  if (!field) return { fault: 'is no metadata field' };
  const operators = OPERATORS[field.type];
  const operator = operators.find((known) => known === raw.operator);
  if (!operator) {
    return { fault: `has type ${field.type}; its operators are ${operators.join(' ')}` };
  }
  const texts = operator === 'in' || operator === 'nin' ? listOf(raw.operand) : [raw.operand];
  if (texts.length === 0) return { fault: `the operand of ${operator} is empty` };
  if (texts.length > MAX_OPERANDS) return { fault: `more than ${MAX_OPERANDS} values` };
  const operands: StoredValue[] = [];
  for (const text of texts) {
    const read = readOperand(field.type, text);
    if ('fault' in read) return { fault: `the operand ${read.fault}` };
    operands.push(read.value);
  }
  return { field, operator, operands: [...new Set(operands)] };
}

function listOf(operand: string): string[] {
  return operand
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
