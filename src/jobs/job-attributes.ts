import { Problem } from '#src/kernel/index.js';
import { parseJid, type Job } from './job.js';

type ValueType = 'text' | 'integer' | 'jid' | 'boolean';

/** One attribute of a job: its names, where it is stored, and how text of a query becomes its value. */
export interface JobAttribute {
  /** Name on the wire, as the record spells it. */
  wire: string;
  /** Attribute name of the older interface; both are accepted in filters. */
  attribute: string;
  type: ValueType;
  /** SQL expression over the columns of `jobs`. */
  sql: string;
  /** Column of the exact counters that carries the attribute, when one does. */
  counted?: string;
}

/** Attributes that filters, sort and summary understand (reference 2.1). Records read the same columns. */
export const JOB_ATTRIBUTES: readonly JobAttribute[] = [
  { wire: 'jid', attribute: 'JobID', type: 'jid', sql: 'jid' },
  counted('status', 'Status', 'status'),
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
];

/** Columns that `sort` knows, by wire name: the attributes and the times. */
export const SORT_COLUMNS: ReadonlyMap<string, string> = new Map([
  ...JOB_ATTRIBUTES.flatMap(({ wire, attribute, sql }): [string, string][] => [
    [wire, sql],
    [attribute, sql],
  ]),
  ['submission', 'submission_time'],
  ['SubmissionTime', 'submission_time'],
  ['lastUpdate', 'last_update'],
  ['LastUpdateTime', 'last_update'],
  ['startExecution', 'start_execution'],
  ['StartExecTime', 'start_execution'],
  ['endExecution', 'end_execution'],
  ['EndExecTime', 'end_execution'],
  ['heartBeat', 'heart_beat'],
  ['HeartBeatTime', 'heart_beat'],
  ['reschedule', 'reschedule_time'],
  ['RescheduleTime', 'reschedule_time'],
]);

const BY_NAME: ReadonlyMap<string, JobAttribute> = new Map(
  JOB_ATTRIBUTES.flatMap((attribute) => [
    [attribute.wire, attribute],
    [attribute.attribute, attribute],
  ]),
);

/** The attribute of that wire or attribute name (case-sensitive); undefined when there is none. */
export function jobAttribute(name: string): JobAttribute | undefined {
  return BY_NAME.get(name);
}

/** Turns the text of a filter into a value of the attribute's type. Throws Problem 400 naming the key. */
export function attributeValue(attribute: JobAttribute, key: string, text: string): unknown {
  switch (attribute.type) {
    case 'text':
      return text;
    case 'boolean': {
      const word = text.toLowerCase();
      if (['true', '1', 'yes', ''].includes(word)) return true;
      if (['false', '0', 'no'].includes(word)) return false;
      throw Problem.invalidField(key, 'is not one of true, false, 1, 0, yes, no');
    }
    case 'integer': {
      const value = Number(text);
      if (/^-?\d{1,10}$/.test(text) && Math.abs(value) < 2 ** 31) return value;
      throw Problem.invalidField(key, 'is not a whole number');
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
  return { text: 'text', integer: 'integer', jid: 'bigint', boolean: 'boolean' }[attribute.type];
}

/** Columns of a job row, for SELECT lists. */
export const JOB_COLUMNS: readonly (keyof Job)[] = [
  'jid',
  'setup',
  'owner',
  'owner_dn',
  'owner_group',
  'vo',
  'status',
  'minor_status',
  'app_status',
  'name',
  'job_group',
  'job_type',
  'site',
  'priority',
  'cpu_time',
  'reschedules',
  'wanted_sites',
  'banned_sites',
  'verified',
  'retrieved',
  'accounted',
  'input_sandbox',
  'output_sandbox',
  'submission_time',
  'last_update',
  'heart_beat',
  'start_execution',
  'end_execution',
  'reschedule_time',
  'executor',
  'attempt',
  'run_reference',
];

function counted(wire: string, attribute: string, column: string): JobAttribute {
  return { wire, attribute, type: 'text', sql: column, counted: column };
}

function flag(wire: string, attribute: string, sql: string): JobAttribute {
  return { wire, attribute, type: 'boolean', sql };
}
