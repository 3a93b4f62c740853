import type { JobResponse, ListJobsQuery } from '#src/client/index.js';
import type { OptionsOf } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { given, valuesByKey } from '../terminal/reading.js';
import type { GridConnection } from './grid-connection.js';

/** The options of `status`, `kill`, `hold`, `release` and `retry` that choose jobs. */
export const FILTER_OPTIONS = [
  ['-s, --status <state>', 'only jobs in this state', { repeated: true }],
  ['-g, --group <name>', 'only jobs of this JobGroup', { repeated: true }],
  ['--name <name>', 'only jobs of this JobName', { repeated: true }],
  ['--where <key=value>', 'only jobs with this attribute: site=LOCAL.demo', { repeated: true }],
  ['--since <time>', 'only jobs that were changed since a day or instant, today or yesterday'],
  ['--until <time>', 'only jobs that were changed until a day or instant'],
  ['--all', 'jobs of all owners'],
] as const;

export type JobFilter = OptionsOf<typeof FILTER_OPTIONS>;

/** True when a filter that leaves something out is given. */
export function isFiltered(filter: JobFilter): boolean {
  const { status, group, name, where, since, until } = filter;
  return [status, group, name, where].some(({ length }) => length > 0) || !!(since ?? until);
}

/** Parameters of lists that leave nothing out. */
const NO_FILTER: ReadonlySet<string> = new Set([
  'allOwners',
  'sort',
  'maxJobs',
  'startJob',
  'after',
]);

/** The filter as the service takes it, which judges it. Throws CommandError. */
export function queryOf({ where, ...filter }: JobFilter): ListJobsQuery {
  const wrong = Object.keys(valuesByKey(where, '--where ')).find((key) => NO_FILTER.has(key));
  if (wrong !== undefined) {
    const hint = wrong === 'allOwners' ? '--all is for jobs of all owners' : undefined;
    throw new CommandError(`--where ${wrong} is no attribute of jobs`, 2, hint);
  }
  const { status, group, name, since, until, all } = filter;
  const lists = Object.entries({ status: status.map(stateOf), jobGroup: group, name });
  return {
    ...valuesByKey(where, '--where '),
    ...Object.fromEntries(lists.filter(([, values]) => values.length > 0)),
    ...given({ fromDate: instantOf(since), toDate: instantOf(until), allOwners: all }),
  };
}

/** The name of a state however it is written; what is none stays, and the service says so. */
export function stateOf(word: string): string {
  return /^[a-z]+$/i.test(word)
    ? `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}`
    : word;
}

/** `today` and `yesterday` as the instants at which they begin here. */
export function instantOf(word: string | undefined, now = new Date()): string | undefined {
  const daysAgo = ['today', 'yesterday'].indexOf(word ?? '');
  if (daysAgo < 0) return word;
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).toISOString();
}

/** Refuses to guess which jobs a verb is meant for: ids or a filter, and not both. Throws CommandError. */
export function demandChoice(verb: string, jids: readonly number[], filter: JobFilter): void {
  if (jids.length > 0 && isFiltered(filter)) {
    throw new CommandError('give job ids or a filter, not both', 2);
  }
  if (jids.length === 0 && !isFiltered(filter)) {
    const hint = 'give ids, or a filter such as --group NAME or --status Waiting';
    throw new CommandError(`${verb} which jobs?`, 2, hint);
  }
}

/** All jobs that a filter finds. */
export async function foundBy(grid: GridConnection, filter: JobFilter): Promise<JobResponse[]> {
  const jobs: JobResponse[] = [];
  for await (const job of grid.client.walkJobs({ ...queryOf(filter), maxJobs: 1000 }))
    jobs.push(job);
  return jobs;
}
