import { Problem } from '#src/kernel/index.js';
import { entityColumns, type EntityColumn } from '#src/platform/index.js';
import { Job } from '../state/job.entity.js';
import { JOB_STATES } from '../state/job-state.js';
import { parseJid } from '../state/job.js';
import { readTime } from './job-times.js';

type ValueType = 'text' | 'state' | 'integer' | 'jid' | 'boolean' | 'time';

const SQL_TYPES = {
  text: 'text',
  state: 'text',
  integer: 'integer',
  jid: 'bigint',
  boolean: 'boolean',
  time: 'timestamptz',
} as const satisfies Record<ValueType, string>;

/** One attribute of a job: its names, where it is stored, and how text of a query becomes its value. */
export interface JobAttribute {
  /** Name on the wire, as the record spells it. */
  wire: string;
  /** Attribute name of the older interface; both are accepted in filters. */
  attribute: string;
  /** Another spelling that filters take. */
  alias?: string;
  type: ValueType;
  /** SQL expression over the columns of `jobs`. */
  sql: string;
  /** The column, when it is one; counters that have a column of that name carry the attribute. */
  column?: string;
  isNullable: boolean;
  /** How the OpenAPI document describes it in the record; not there: only with a value. */
  shown: { description?: string; example?: string | number; required?: false };
}

const COLUMNS = new Map(entityColumns(Job).map((column) => [column.property, column]));

/**
 * Attributes of jobs: what filters, sort and summary understand (reference 2.1) and what records show, in their order. What
 * is stored is said by the entity's property.
 */
export const JOB_ATTRIBUTES: readonly JobAttribute[] = [
  stored('jid', 'JobID', { description: 'Id of the job', example: 4711 }),
  { ...stored('status', 'Status', { example: 'Running' }), type: 'state' },
  stored('minorStatus', 'MinorStatus', { example: 'Application' }),
  stored('appStatus', 'ApplicationStatus', { example: 'Unknown' }),
  stored('name', 'JobName', { example: 'mc-1' }),
  stored('jobGroup', 'JobGroup', { example: '00000000' }),
  stored('jobType', 'JobType', { example: 'User' }),
  stored('site', 'Site', {
    description: 'Where it runs; before that the wanted site, `Multiple` or `ANY`.',
  }),
  stored('owner', 'Owner', { example: 'alice' }),
  {
    ...stored('ownerDn', 'OwnerDN', { example: '/DC=org/DC=grid/CN=alice' }),
    wire: 'ownerDN',
  },
  stored('ownerGroup', 'OwnerGroup', { example: 'grid_user' }),
  stored('vo', 'VO', {
    description: "Virtual organisation of the owner's group, when it has one.",
    required: false,
  }),
  stored('setup', 'DIRACSetup', { example: 'Prod' }),
  stored('priority', 'UserPriority', { example: 1 }),
  stored('cpuTime', 'CPUTime', { description: 'Seconds of CPU asked for', example: 86400 }),
  stored('reschedules', 'RescheduleCounter', {
    description: 'How often it was rescheduled',
    example: 0,
  }),
  stored('verified', 'VerifiedFlag', { description: 'The input was accepted.' }),
  stored('retrieved', 'RetrievedFlag', {
    description: 'The owner has fetched the output sandbox.',
  }),
  stored('accounted', 'AccountedFlag', { description: 'Used CPU and wall time are recorded.' }),
  flag('killed', 'KilledFlag', "(status = 'Killed')"),
  flag('deleted', 'DeletedFlag', "(status = 'Deleted')"),
  flag('inputSandboxReady', 'ISandboxReadyFlag', '(input_sandbox is not null)'),
  flag('outputSandboxReady', 'OSandboxReadyFlag', '(output_sandbox is not null)'),
  time('submission', 'SubmissionTime', 'submissionTime'),
  time('lastUpdate', 'LastUpdateTime', 'lastUpdate'),
  lastSignOfLife(),
  time('heartBeat', 'HeartBeatTime', 'heartBeat'),
  time('startExecution', 'StartExecTime', 'startExecution'),
  time('endExecution', 'EndExecTime', 'endExecution'),
  time('reschedule', 'RescheduleTime', 'rescheduleTime'),
];

const BY_NAME: ReadonlyMap<string, JobAttribute> = new Map(
  JOB_ATTRIBUTES.flatMap((attribute) =>
    namesOf(attribute).map((name): [string, JobAttribute] => [name, attribute]),
  ),
);

/** Every spelling of an attribute. */
export function namesOf({ wire, attribute, alias }: JobAttribute): string[] {
  return [...new Set([wire, attribute, alias ?? wire])];
}

/** The attribute of that wire or attribute name (case-sensitive); undefined when there is none. */
export function jobAttribute(name: string): JobAttribute | undefined {
  return BY_NAME.get(name);
}

/** Turns the text of a filter into a value of the attribute's type. Throws Problem 400 naming the key. */
export function attributeValue(attribute: JobAttribute, key: string, text: string): unknown {
  switch (attribute.type) {
    case 'text':
      return text;
    case 'time':
      return readTime(key, text);
    case 'state':
      if (Object.hasOwn(JOB_STATES, text)) return text;
      throw Problem.invalidField(key, `is not one of ${Object.keys(JOB_STATES).join(', ')}`);
    case 'boolean': {
      const word = text.toLowerCase();
      if (['true', '1', 'yes', ''].includes(word)) return true;
      if (['false', '0', 'no'].includes(word)) return false;
      throw Problem.invalidField(key, 'is not one of true, false, 1, 0, yes, no');
    }
    case 'integer': {
      if (!/^-?\d+$/.test(text)) throw Problem.invalidField(key, 'is not a whole number');
      if (Math.abs(Number(text)) < 2 ** 31) return Number(text);
      throw Problem.invalidField(key, `must be between ${1 - 2 ** 31} and ${2 ** 31 - 1}`);
    }
    case 'jid': {
      const jid = parseJid(text);
      if (jid === undefined) throw Problem.invalidField(key, 'is not a job id');
      return String(jid);
    }
  }
}

/** PostgreSQL's name of the attribute's type, for array parameters. */
export function sqlType({ type }: JobAttribute): string {
  return SQL_TYPES[type];
}

function stored(
  property: keyof Job,
  attribute: string,
  shown: JobAttribute['shown'] = {},
): JobAttribute {
  const column = COLUMNS.get(property);
  if (!column) throw new Error(`${property} is no column of jobs`);
  return {
    wire: property,
    attribute,
    type: valueType(column),
    sql: column.name,
    column: column.name,
    isNullable: column.isNullable,
    shown,
  };
}

function valueType({ type, property }: EntityColumn<Job>): ValueType {
  const found = Object.entries(SQL_TYPES).find(([, sqlType]) => sqlType === type);
  if (!found) throw new Error(`${property} is of a type that no filter can read`);
  return found[0] as ValueType;
}

function time(wire: string, attribute: string, property: keyof Job): JobAttribute {
  const column = stored(property, attribute);
  const shown = column.isNullable ? ({ required: false } as const) : {};
  return { ...column, wire, alias: camelCase(attribute), shown };
}

function lastSignOfLife(): JobAttribute {
  return {
    ...{ wire: 'lastSOL', attribute: 'LastSOL', alias: 'lastSOL', type: 'time' },
    sql: 'greatest(heart_beat, last_update)',
    isNullable: false,
    shown: { description: 'Last sign of life: the newer of heart beat and last update.' },
  };
}

function flag(wire: string, attribute: string, sql: string): JobAttribute {
  return { wire, attribute, type: 'boolean', sql, isNullable: false, shown: {} };
}

function camelCase(attribute: string): string {
  return attribute.charAt(0).toLowerCase() + attribute.slice(1);
}
