import { Problem } from '#src/kernel/index.js';
import { parseJid } from '../state/job.js';
import { readTime } from './job-times.js';
import { JOB_STATES } from '../state/job-state.js';

type ValueType = 'text' | 'state' | 'integer' | 'jid' | 'boolean' | 'time';

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
  /** Column of the exact counters that carries the attribute, when one does. */
  counted?: string;
}

/** Attributes that filters, sort and summary understand (reference 2.1). Records read the same columns. */
export const JOB_ATTRIBUTES: readonly JobAttribute[] = [
  { wire: 'jid', attribute: 'JobID', type: 'jid', sql: 'jid' },
  { ...counted('status', 'Status', 'status'), type: 'state' },
  counted('minorStatus', 'MinorStatus', 'minor_status'),
  { wire: 'appStatus', attribute: 'ApplicationStatus', type: 'text', sql: 'app_status' },
  counted('name', 'JobName', 'name'),
  counted('jobGroup', 'JobGroup', 'job_group'),
  counted('jobType', 'JobType', 'job_type'),
  counted('site', 'Site', 'site'),
  counted('owner', 'Owner', 'owner'),
  { wire: 'ownerDN', attribute: 'OwnerDN', type: 'text', sql: 'owner_dn' },
  counted('ownerGroup', 'OwnerGroup', 'owner_group'),
  counted('vo', 'VO', 'vo'),
  counted('setup', 'DIRACSetup', 'setup'),
  { wire: 'priority', attribute: 'UserPriority', type: 'integer', sql: 'priority' },
  { wire: 'cpuTime', attribute: 'CPUTime', type: 'integer', sql: 'cpu_time' },
  { wire: 'reschedules', attribute: 'RescheduleCounter', type: 'integer', sql: 'reschedules' },
  flag('verified', 'VerifiedFlag', 'verified'),
  flag('retrieved', 'RetrievedFlag', 'retrieved'),
  flag('accounted', 'AccountedFlag', 'accounted'),
  flag('killed', 'KilledFlag', "(status = 'Killed')"),
  flag('deleted', 'DeletedFlag', "(status = 'Deleted')"),
  flag('inputSandboxReady', 'ISandboxReadyFlag', '(input_sandbox is not null)'),
  flag('outputSandboxReady', 'OSandboxReadyFlag', '(output_sandbox is not null)'),
  time('submission', 'SubmissionTime', 'submission_time'),
  time('lastUpdate', 'LastUpdateTime', 'last_update'),
  time('lastSOL', 'LastSOL', 'greatest(heart_beat, last_update)'),
  time('heartBeat', 'HeartBeatTime', 'heart_beat'),
  time('startExecution', 'StartExecTime', 'start_execution'),
  time('endExecution', 'EndExecTime', 'end_execution'),
  time('reschedule', 'RescheduleTime', 'reschedule_time'),
];

const BY_NAME: ReadonlyMap<string, JobAttribute> = new Map(
  JOB_ATTRIBUTES.flatMap((attribute) =>
    namesOf(attribute).map((name): [string, JobAttribute] => [name, attribute]),
  ),
);

/** Columns that `sort` knows, by every name of the attribute. */
export const SORT_COLUMNS: ReadonlyMap<string, string> = new Map(
  [...BY_NAME].map(([name, { sql }]) => [name, sql]),
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
export function sqlType(attribute: JobAttribute): string {
  const types = { text: 'text', state: 'text', integer: 'integer', jid: 'bigint' } as const;
  return { ...types, boolean: 'boolean', time: 'timestamptz' }[attribute.type];
}

function counted(wire: string, attribute: string, column: string): JobAttribute {
  return { wire, attribute, type: 'text', sql: column, counted: column };
}

function time(wire: string, attribute: string, sql: string): JobAttribute {
  const alias = attribute.charAt(0).toLowerCase() + attribute.slice(1);
  return { wire, attribute, alias, type: 'time', sql };
}

function flag(wire: string, attribute: string, sql: string): JobAttribute {
  return { wire, attribute, type: 'boolean', sql };
}
