import { Problem, INSTANT, readTime } from '#src/kernel/index.js';
import { JOB_STATES } from './job-state.js';
import { parseJid } from './job.js';
import { INT64, TIME } from './job.openapi.js';

/** A kind of value that an attribute of a job may have. */
interface JobValueType {
  /** PostgreSQL's name of the type. */
  sql: string;
  /** Turns the text of a filter into a value. Throws Problem 400 naming the key. */
  read: (key: string, text: string) => unknown;
  /** How OpenAPI describes a text of a filter. */
  filter: Record<string, unknown>;
  /** How OpenAPI describes the value in a record, where that is something else. */
  shown?: Record<string, unknown>;
}

const MAX_INTEGER = 2 ** 31 - 1;
const STATES = Object.keys(JOB_STATES);

/** What attributes of jobs can be: in queries, in the database and in the OpenAPI document. */
export const JOB_VALUE_TYPES = {
  text: { sql: 'text', read: (_key, text) => text, filter: { type: 'string' } },
  state: {
    sql: 'text',
    read: (key, text) => {
      if (Object.hasOwn(JOB_STATES, text)) return text;
      throw Problem.invalidField(key, `is not one of ${STATES.join(', ')}`);
    },
    filter: { type: 'string', enum: STATES },
    shown: { enum: STATES },
  },
  integer: {
    sql: 'integer',
    read: (key, text) => {
      if (!/^-?\d+$/.test(text)) throw Problem.invalidField(key, 'is not a whole number');
      if (Math.abs(Number(text)) <= MAX_INTEGER) return Number(text);
      throw Problem.invalidField(key, `must be between ${-MAX_INTEGER} and ${MAX_INTEGER}`);
    },
    filter: { type: 'integer', minimum: -MAX_INTEGER, maximum: MAX_INTEGER },
    shown: { type: 'integer' },
  },
  jid: {
    sql: 'bigint',
    read: (key, text) => {
      const jid = parseJid(text);
      if (jid === undefined) throw Problem.invalidField(key, 'is not a job id');
      return String(jid);
    },
    filter: { ...INT64, minimum: 1 },
    shown: INT64,
  },
  arrayId: {
    sql: 'bigint',
    read: (key, text) => {
      const id = parseJid(text);
      if (id === undefined) throw Problem.invalidField(key, 'is not the id of an array');
      return String(id);
    },
    filter: { ...INT64, minimum: 1 },
    shown: INT64,
  },
  boolean: {
    sql: 'boolean',
    read: (key, text) => {
      const word = text.toLowerCase();
      if (['true', '1', 'yes', ''].includes(word)) return true;
      if (['false', '0', 'no'].includes(word)) return false;
      throw Problem.invalidField(key, 'is not one of true, false, 1, 0, yes, no');
    },
    filter: { type: 'boolean' },
  },
  time: { sql: 'timestamptz', read: readTime, filter: INSTANT, shown: TIME },
} as const satisfies Record<string, JobValueType>;

/** The name of a kind of value. */
export type ValueType = keyof typeof JOB_VALUE_TYPES;

/** What is to be known of a kind of value. */
export function valueType(type: ValueType): JobValueType {
  return JOB_VALUE_TYPES[type];
}
