import { isInexact, type JsonValue } from '#src/kernel/index.js';
import type { CatalogueFieldEntity, FieldType } from './catalogue-field.entity.js';

export { FIELD_TYPES, type FieldType } from './catalogue-field.entity.js';

/** A declared metadata field. */
export type MetadataField = Readonly<Pick<CatalogueFieldEntity, 'id' | 'name' | 'type'>>;

/**
 * A value as it is stored: `int` number, or bigint beyond 2^53; `float` number; `string` text; `date` milliseconds
 * since 1970. Two values are equal exactly when they are the same.
 */
export type StoredValue = number | bigint | string;

/** A value read from text or JSON, or what is wrong with it. */
export type ReadValue = { value: StoredValue } | { fault: string };

/** Column of a value of the type. */
export const VALUE_COLUMN = {
  int: 'int_value',
  float: 'float_value',
  string: 'text_value',
  date: 'int_value',
} as const satisfies Record<FieldType, string>;

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

/** Bytes of a string value. */
const MAX_VALUE_BYTES = 255;
const MAX_FIELD_NAME = 64;
const FIELD_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u;
const INTEGER = /^[+-]?\d{1,40}$/;
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const TOO_MANY_DIGITS =
  'has more digits than a float keeps (17, in whole numbers up to 2^53 all): a field of type int or string keeps them';
const SURROGATE = /\p{Surrogate}/u;
const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

/** What is wrong with the name of a field, undefined when nothing is. */
export function fieldNameFault(name: string): string | undefined {
  if (name.length === 0 || name.length > MAX_FIELD_NAME) {
    return `must have 1 to ${MAX_FIELD_NAME} characters`;
  }
  return FIELD_NAME.test(name)
    ? undefined
    : 'may hold letters, digits, _ . : and -, and begins with a letter, a digit or _';
}

/** Reads the text of an operand; blanks around it are ignored. */
export function readOperand(type: FieldType, text: string): ReadValue {
  const bare = text.trim();
  if (type === 'int') {
    return INTEGER.test(bare) ? integer(BigInt(bare)) : { fault: 'is not a decimal integer' };
  }
  if (type === 'float') {
    return NUMBER.test(bare) ? float(Number(bare)) : { fault: 'is not a number' };
  }
  return type === 'date' ? readDate(bare) : readString(bare);
}

/** Reads a value of a JSON body; a number may be written as a text, which has all its digits everywhere. */
export function readJsonValue(type: FieldType, json: JsonValue): ReadValue {
  if (type === 'string')
    return typeof json === 'string' ? readString(json) : { fault: 'is not a string' };
  if (type === 'date') {
    return typeof json === 'string' ? readDate(json) : { fault: 'is not an ISO 8601 date' };
  }
  const hasAllDigits = typeof json === 'string' || typeof json === 'bigint';
  if (type === 'float' && hasAllDigits && losesDigits(String(json)))
    return { fault: TOO_MANY_DIGITS };
  if (typeof json === 'string') {
    return NUMBER.test(json) || INTEGER.test(json)
      ? readOperand(type, json)
      : { fault: 'is not a number' };
  }
  if (typeof json !== 'number' && typeof json !== 'bigint') return { fault: 'is not a number' };
  if (type === 'float') return float(Number(json));
  if (typeof json === 'number' && !Number.isInteger(json)) return { fault: 'is not an integer' };
  return integer(BigInt(json));
}

/** The value as it stands in an answer. */
export function presentValue(type: FieldType, value: StoredValue): JsonValue {
  return type === 'date' ? new Date(Number(value)).toISOString() : value;
}

function integer(value: bigint): ReadValue {
  if (value < MIN_INT || value > MAX_INT) return { fault: 'is outside the 64-bit range' };
  const number = Number(value);
  return { value: Number.isSafeInteger(number) ? number : value };
}

/** Whether a double would be another number. */
function losesDigits(text: string): boolean {
  if (INTEGER.test(text)) {
    const number = Number(text);
    return Number.isFinite(number) && BigInt(number) !== BigInt(text);
  }
  return NUMBER.test(text) && isInexact(text);
}

function float(value: number): ReadValue {
  if (!Number.isFinite(value)) return { fault: 'is too large' };
  return { value: value === 0 ? 0 : value }; // -0 and 0 are one value
}

/** Commas and outer blanks cannot be written in an `in` condition, so a value must not have them. */
function readString(text: string): ReadValue {
  if (text === '') return { fault: 'is empty' };
  if (text.includes('\0') || SURROGATE.test(text)) return { fault: 'is not valid Unicode text' };
  if (text !== text.trim()) return { fault: 'begins or ends with a blank' };
  if (text.includes(','))
    return { fault: 'contains a comma, which separates the values of a condition' };
  if (Buffer.byteLength(text) > MAX_VALUE_BYTES)
    return { fault: `is longer than ${MAX_VALUE_BYTES} bytes` };
  return { value: text };
}

const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** A day means its first instant; an instant without a zone is UTC. */
function readDate(text: string): ReadValue {
  const match = DATE.exec(text);
  if (!match) return { fault: 'is not an ISO 8601 day or instant' };
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] =
    match;
  if (/[1-9]/.test(fraction.slice(3))) return { fault: 'is finer than a millisecond' };
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const parts = [year, month, day, hour, minute, second].map(Number);
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = parts;
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  date.setUTCHours(h, mi, s, milliseconds);
  const back = [
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ];
  if (back.some((part, index) => part !== parts[index]))
    return { fault: 'is a date that does not exist' };
  const offset = zoneMinutes(zone);
  if (offset === undefined) return { fault: 'has an impossible time zone' };
  const instant = date.getTime() - offset * 60_000;
  const years = new Date(instant).getUTCFullYear();
  return years < 0 || years > 9999
    ? { fault: 'is outside the years 0000 to 9999' }
    : { value: instant };
}

function zoneMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 15 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
