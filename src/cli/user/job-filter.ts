import type { ListJobsQuery } from '#src/client/index.js';
import type { OptionsOf } from '../terminal/command.js';
import { given, valuesByKey } from '../terminal/reading.js';

/** The options of `status`, `kill`, `hold`, `release` and `retry` that choose jobs. */
export const FILTER_OPTIONS = [
  ['-s, --status <state>', 'only jobs in this state', { repeated: true }],
  ['-g, --group <name>', 'only jobs of this JobGroup', { repeated: true }],
  ['--name <name>', 'only jobs of this JobName', { repeated: true }],
  ['--where <key=value>', 'only jobs with this attribute: site=LOCAL.demo', { repeated: true }],
  ['--since <time>', 'only jobs that were changed since a day or instant'],
  ['--until <time>', 'only jobs that were changed until a day or instant'],
  ['--all', 'jobs of all owners'],
] as const;

export type JobFilter = OptionsOf<typeof FILTER_OPTIONS>;

/** True when a filter that leaves something out is given. */
export function isFiltered(filter: JobFilter): boolean {
  const { status, group, name, where, since, until } = filter;
  return [status, group, name, where].some(({ length }) => length > 0) || !!(since ?? until);
}

/** The filter as the service takes it, which judges it. Throws CommandError. */
export function queryOf({ where, ...filter }: JobFilter): ListJobsQuery {
  const { status, group, name, since, until, all } = filter;
  const lists = Object.entries({ status, jobGroup: group, name });
  return {
    ...valuesByKey(where, '--where '),
    ...Object.fromEntries(lists.filter(([, values]) => values.length > 0)),
    ...given({ fromDate: since, toDate: until, allOwners: all }),
  };
}
