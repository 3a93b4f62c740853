import { isJsonObject, parseJson, Problem, type JsonObject } from '#src/kernel/index.js';
import { unknownParameters, type QueryValues } from '#src/platform/index.js';
import { attributeValue, jobAttribute, type JobAttribute } from './job-attributes.js';
import { readTime } from './job-times.js';

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

/** Which jobs are asked for, without paging. */
export interface JobSelection {
  allOwners: boolean;
  filters: JobFilter[];
  /** Inclusive, on the last update. */
  fromDate?: Date;
  /** Exclusive, on the last update. */
  toDate?: Date;
}

/** GET /jobs, read and checked. */
export interface ListJobsQuery extends JobSelection {
  maxJobs: number;
  startJob: number;
  sort: SortKey[];
  /** Values of the sort keys of the last job that the caller has seen. */
  after?: (string | null)[];
}

const SELECTION_KEYS = ['access_token', 'allOwners', 'fromDate', 'toDate'];
const LIST_KEYS = ['maxJobs', 'startJob', 'sort', 'after'];
/** Jobs of a page for who asks for no number. */
const DEFAULT_JOBS = 100;
const JID = jobAttribute('jid') as JobAttribute;
const NEWEST_FIRST: SortKey = { attribute: JID, descending: true };

/** Reads the query of GET /jobs (reference 1.5 and contract 10). Throws Problem 400 naming every bad key. */
export function readListJobsQuery(query: QueryValues, maxJobsLimit: number): ListJobsQuery {
  const selection = readSelection(query, LIST_KEYS);
  const sort = readSort(query.single('sort'));
  const after = query.single('after');
  const startJob = query.integer('startJob', 0, { min: 0, clamp: true });
  if (after !== undefined && startJob > 0) {
    throw Problem.invalidField('startJob', 'cannot be combined with after');
  }
  return {
    ...selection,
    maxJobs: query.integer('maxJobs', Math.min(DEFAULT_JOBS, maxJobsLimit), {
      min: 1,
      max: maxJobsLimit,
      clamp: true,
    }),
    startJob,
    sort,
    ...(after === undefined ? {} : { after: readCursor(after, sort) }),
  };
}

/** An attribute to count by, and how the caller has spelled it. */
export interface SummaryGroup {
  name: string;
  attribute: JobAttribute;
}

/** GET /jobs/summary: the selection, and the attributes to group by. */
export function readSummaryQuery(query: QueryValues): JobSelection & { groups: SummaryGroup[] } {
  const selection = readSelection(query, ['group']);
  const names = query.has('group') ? query.all('group') : ['Status'];
  const groups = [...new Set(names)].map((name) => {
    const attribute = jobAttribute(name);
    if (!attribute) throw Problem.invalidField('group', `${name} is not an attribute of jobs`);
    if (attribute.type === 'time') throw Problem.invalidField('group', `${name} is a time`);
    return { name, attribute };
  });
  return { ...selection, groups };
}

function readSelection(query: QueryValues, furtherKeys: readonly string[]): JobSelection {
  const own = new Set([...SELECTION_KEYS, ...furtherKeys]);
  const unknown = query.keys().filter((key) => !own.has(key) && !jobAttribute(key));
  if (unknown.length > 0) throw unknownParameters(unknown);
  const fromDate = readDate(query, 'fromDate');
  const toDate = readDate(query, 'toDate');
  return {
    allOwners: query.boolean('allOwners'),
    filters: readFilters(query),
    ...(fromDate ? { fromDate } : {}),
    ...(toDate ? { toDate } : {}),
  };
}

function readFilters(query: QueryValues): JobFilter[] {
  const filters = new Map<string, JobFilter>();
  for (const key of query.keys()) {
    const attribute = jobAttribute(key);
    if (!attribute) continue;
    const values = query.all(key).map((text) => attributeValue(attribute, key, text));
    const known = filters.get(attribute.wire);
    if (known) known.values.push(...values);
    else filters.set(attribute.wire, { attribute, values });
  }
  return [...filters.values()];
}

function readDate(query: QueryValues, key: string): Date | undefined {
  const text = query.single(key);
  return text === undefined ? undefined : readTime(key, text).from;
}

function readSort(text: string | undefined): SortKey[] {
  if (text === undefined || text.trim() === '') return [NEWEST_FIRST];
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
    throw Problem.invalidField('after', 'is not a cursor of this list');
  }
  if (cursor?.['s'] !== sortText(sort)) {
    throw Problem.invalidField('after', 'belongs to a list with another sort');
  }
  return values.map((value) => {
    if (value === null || (typeof value === 'string' && !value.includes('\0'))) return value;
    throw Problem.invalidField('after', 'is not a cursor of this list');
  });
}

function parseCursor(text: string): JsonObject | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
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
