import { entityColumns, type EntityColumn } from '#src/database/index.js';
import { Job } from './job.entity.js';
import { JOB_VALUE_TYPES, type ValueType } from './job-value-types.js';

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
  /** The value that a job has. */
  valueOf: (job: Job) => unknown;
  /** How the OpenAPI document describes it in the record; not there: only with a value. */
  shown: { description?: string; example?: string | number; required?: false };
}

const COLUMNS = new Map(entityColumns(Job).map((column) => [column.property, column]));

/**
 * Attributes of jobs: what filters, sort and summary understand and what records show, in their order. What
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
  {
    ...stored('arrayId', 'ArrayID', {
      description: 'Array that it is a member of, when it is of one.',
      example: 12,
      required: false,
    }),
    type: 'arrayId',
  },
  stored('verified', 'VerifiedFlag', { description: 'The input was accepted.' }),
  stored('retrieved', 'RetrievedFlag', {
    description: 'The owner has fetched the output sandbox.',
  }),
  stored('accounted', 'AccountedFlag', { description: 'Used CPU and wall time are recorded.' }),
  flag('killed', 'KilledFlag', "(status = 'Killed')", (job) => job.status === 'Killed'),
  flag('deleted', 'DeletedFlag', "(status = 'Deleted')", (job) => job.status === 'Deleted'),
  flag(
    'inputSandboxReady',
    'ISandboxReadyFlag',
    '(input_sandbox is not null)',
    (job) => job.inputSandbox !== null,
  ),
  flag(
    'outputSandboxReady',
    'OSandboxReadyFlag',
    '(output_sandbox is not null)',
    (job) => job.outputSandbox !== null,
  ),
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

/** SQL of what jobs are counted by: a job without a value has an empty one. */
export function keyColumn({ isNullable, sql }: JobAttribute, column: string = sql): string {
  return isNullable ? `coalesce(${column}::text, '')` : `${column}::text`;
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
    type: typeOf(column),
    sql: column.name,
    column: column.name,
    isNullable: column.isNullable,
    valueOf: (job) => job[property],
    shown,
  };
}

function typeOf({ type, property }: EntityColumn<Job>): ValueType {
  const found = Object.entries(JOB_VALUE_TYPES).find(([, { sql }]) => sql === type);
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
    valueOf: ({ heartBeat, lastUpdate }) =>
      heartBeat !== null && heartBeat > lastUpdate ? heartBeat : lastUpdate,
    shown: { description: 'Last sign of life: the newer of heart beat and last update.' },
  };
}

function flag(
  wire: string,
  attribute: string,
  sql: string,
  valueOf: (job: Job) => boolean,
): JobAttribute {
  return { wire, attribute, type: 'boolean', sql, isNullable: false, valueOf, shown: {} };
}

function camelCase(attribute: string): string {
  return attribute.charAt(0).toLowerCase() + attribute.slice(1);
}
