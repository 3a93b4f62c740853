import { ApiHideProperty, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  isJsonObject,
  parseJson,
  Problem,
  type JsonObject,
  INSTANT,
  readTime,
} from '#src/kernel/index.js';
import {
  FreeKeys,
  IsBoolean,
  IsInt,
  IsOptional,
  Matches,
  Min,
  type QueryValues,
  ReadAllBy,
  ReadBy,
} from '#src/http/index.js';
import {
  JOB_ATTRIBUTES,
  jobAttribute,
  namesOf,
  type JobAttribute,
} from '../state/job-attributes.js';
import { valueType } from '../state/job-value-types.js';

/** A restriction of one attribute to some values. */
export interface JobFilter {
  attribute: JobAttribute;
  values: unknown[];
}

/** One key of the order of a list. */
export interface SortKey {
  attribute: JobAttribute;
  descending: boolean;
}

/** An attribute to count by, and how the caller has spelled it. */
export interface SummaryGroup {
  name: string;
  attribute: JobAttribute;
}

/** A page of jobs that is asked for. */
export interface JobsWanted extends Omit<ListJobsQuery, 'after'> {
  /** Values of the sort keys of the last job that the caller has seen. */
  after?: (string | null)[];
}

/** Counts of one summary; more are refused. */
export const MOST_COUNTS = 10_000;

const JID = jobAttribute('jid') as JobAttribute;
const NEWEST_FIRST: SortKey = { attribute: JID, descending: true };
const NO_CURSOR = 'is not a cursor of this list';
const NAMES = JOB_ATTRIBUTES.flatMap(namesOf).join('|');
const SORT = `^\\s*([-+]?(${NAMES})\\s*(,\\s*[-+]?(${NAMES})\\s*)*)?$`;
/** What jobs can be counted by: the attributes in both spellings, but times. */
const COUNTABLE = JOB_ATTRIBUTES.filter(({ type }) => type !== 'time').flatMap(
  ({ wire, attribute }) => [wire, attribute],
);
/** One of them, in the OpenAPI document. A pattern and no `enum`: generators make one member of `status` and `Status`. */
export const COUNTABLE_NAME = {
  type: 'string',
  pattern: `^(${COUNTABLE.join('|')})$`,
  'x-values': COUNTABLE,
} as const;

/** Which jobs are asked for. Filters: every attribute of jobs in each of its spellings, repeatable. */
@Filtered
export class JobSelectionQuery {
  /** Jobs of all owners whose records you may see */
  @IsOptional()
  @IsBoolean()
  allOwners: boolean = false;

  @ApiHideProperty()
  @FreeKeys({ takes: (key) => jobAttribute(key) !== undefined, read: readFilters })
  filters!: JobFilter[];

  /** Inclusive. */
  @ApiProperty(instant('Last update at or after'))
  @ReadBy(readDate)
  fromDate?: Date;

  /** Exclusive. */
  @ApiProperty(instant('Last update before'))
  @ReadBy(readDate)
  toDate?: Date;
}

/** Query of `GET /jobs`. */
export class ListJobsQuery extends JobSelectionQuery {
  /** At most so many jobs; more than `GRID_MAX_JOBS` (10000) is taken as that many */
  @IsOptional()
  @Min(1)
  @IsInt()
  maxJobs: number = 100;

  /** So many jobs are left out at the start; the page is empty behind the last one */
  @IsOptional()
  @Min(0)
  @IsInt()
  startJob: number = 0;

  @ApiProperty({
    type: 'string',
    required: false,
    description: 'Wire names, minus for descending: `-jid,lastUpdate`',
    pattern: SORT,
    default: '-jid',
  })
  @ReadBy(readSort)
  sort: SortKey[] = [NEWEST_FIRST];

  /** Cursor of the `Link: rel="next"` header */
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]+$/, { message: NO_CURSOR })
  after?: string;
}

/** Query of `GET /jobs/summary`. */
export class JobSummaryQuery extends JobSelectionQuery {
  @ApiProperty({
    type: 'array',
    items: COUNTABLE_NAME,
    required: false,
    description: `Attributes to count by; default \`Status\`. More than ${MOST_COUNTS} counts are refused`,
  })
  @ReadAllBy(readGroups)
  group?: SummaryGroup[];
}

/** What a summary counts by. */
export function groupsOf({ group }: JobSummaryQuery): SummaryGroup[] {
  return group ?? readGroups(['Status']);
}

/** The page that the query asks for. Throws Problem 400 for a cursor that is none of its order. */
export function wantedOf({ after, ...query }: ListJobsQuery, mostJobs: number): JobsWanted {
  if (after !== undefined && query.startJob > 0) {
    throw Problem.invalidField('startJob', 'cannot be combined with after');
  }
  return {
    ...query,
    maxJobs: Math.min(query.maxJobs, mostJobs),
    ...(after === undefined ? {} : { after: readCursor(after, query.sort) }),
  };
}

/** One query parameter for each attribute of a job, by its wire name, in the OpenAPI document. */
function Filtered(target: typeof JobSelectionQuery): void {
  for (const { wire, type } of JOB_ATTRIBUTES) {
    ApiProperty({
      type: 'array',
      required: false,
      description: `Only jobs with one of these values of \`${wire}\``,
      items: { ...valueType(type).filter },
    })(target.prototype, wire);
  }
}

function instant(meaning: string): ApiPropertyOptions {
  return { ...INSTANT, required: false, description: `${meaning}; a day or an instant` };
}

function readFilters(query: QueryValues): JobFilter[] {
  const filters = new Map<string, JobFilter>();
  for (const key of query.keys()) {
    const attribute = jobAttribute(key) as JobAttribute;
    const { read } = valueType(attribute.type);
    const values = query.all(key).map((text) => read(key, text));
    const known = filters.get(attribute.wire);
    if (known) known.values.push(...values);
    else filters.set(attribute.wire, { attribute, values });
  }
  return [...filters.values()];
}

function readDate(text: string, key: string): Date {
  return readTime(key, text).from;
}

function readGroups(names: string[]): SummaryGroup[] {
  return [...new Set(names)].map((name) => {
    const attribute = jobAttribute(name);
    if (!attribute) throw Problem.invalidField('group', `${name} is not an attribute of jobs`);
    if (attribute.type === 'time') throw Problem.invalidField('group', `${name} is a time`);
    return { name, attribute };
  });
}

/** One attribute to count by. Throws Problem 400 for what is none. */
export function oneGroup(name: string): SummaryGroup | undefined {
  return readGroups([name])[0];
}

function readSort(text: string): SortKey[] {
  if (text.trim() === '') return [NEWEST_FIRST];
  const keys: SortKey[] = [];
  for (const part of text.split(',')) {
    const descending = part.trim().startsWith('-');
    const wire = part.trim().replace(/^[-+]/, '');
    const attribute = jobAttribute(wire);
    if (!attribute) throw Problem.invalidField('sort', `${wire} is not an attribute of jobs`);
    if (keys.some((key) => key.attribute === attribute)) {
      throw Problem.invalidField('sort', `${wire} is given twice`);
    }
    keys.push({ attribute, descending });
  }
  const isUnique = keys.some(({ attribute }) => attribute === JID);
  const last = keys[keys.length - 1] as SortKey;
  return isUnique ? keys : [...keys, { ...NEWEST_FIRST, descending: last.descending }];
}

/** The opaque text of `after`: the sort and where the page ended. */
export function writeCursor(sort: readonly SortKey[], values: readonly (string | null)[]): string {
  const cursor = { s: sortText(sort), v: values };
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

function readCursor(text: string, sort: readonly SortKey[]): (string | null)[] {
  const cursor = parseCursor(text);
  const values = cursor?.['v'];
  if (!Array.isArray(values) || values.length !== sort.length) {
    throw Problem.invalidField('after', NO_CURSOR);
  }
  if (cursor?.['s'] !== sortText(sort)) {
    throw Problem.invalidField('after', 'belongs to a list with another sort');
  }
  return values.map((value) => {
    if (value === null || (typeof value === 'string' && !value.includes('\0'))) return value;
    throw Problem.invalidField('after', NO_CURSOR);
  });
}

function parseCursor(text: string): JsonObject | undefined {
  try {
    const value = parseJson(Buffer.from(text, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function sortText(sort: readonly SortKey[]): string {
  return sort.map(({ attribute, descending }) => (descending ? '-' : '') + attribute.sql).join(',');
}
