import { Option, type Command } from 'commander';
import type { JobResponse, ListJobsQuery } from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { collect } from './words.js';

/** What `status`, `kill`, `hold`, `release` and `retry` take to choose jobs. */
export interface JobFilter {
  status: string[];
  group: string[];
  name: string[];
  where: string[];
  since?: string;
  until?: string;
  all?: boolean;
}

/** The options that choose jobs. */
export function filterOptions(command: Command): Command {
  const repeated = (flags: string, text: string): Option =>
    new Option(flags, `${text}; may be repeated`).argParser(collect).default([], 'any');
  return command
    .addOption(repeated('-s, --status <state>', 'only jobs in this state'))
    .addOption(repeated('-g, --group <name>', 'only jobs of this JobGroup'))
    .addOption(repeated('--name <name>', 'only jobs of this JobName'))
    .addOption(repeated('--where <key=value>', 'only jobs with this attribute: site=LOCAL.demo'))
    .option('--since <time>', 'only jobs that were changed since a day or instant')
    .option('--until <time>', 'only jobs that were changed until a day or instant')
    .option('--all', 'jobs of all owners');
}

/** True when a filter that leaves something out is given. */
export function isFiltered(filter: JobFilter): boolean {
  const { status, group, name, where, since, until } = filter;
  return [status, group, name, where].some(({ length }) => length > 0) || !!(since ?? until);
}

/** The filter as the service takes it, which judges it. Throws CommandError. */
export function queryOf(filter: JobFilter): ListJobsQuery {
  const { status, group, name, since, until, all } = filter;
  const more: Record<string, string[]> = {};
  for (const word of filter.where) {
    const [, key = '', value = ''] = /^([A-Za-z]\w*)=(.*)$/s.exec(word) ?? [];
    if (key === '') throw new CommandError(`--where ${word}: key=value is expected`, 2);
    (more[key] ??= []).push(value);
  }
  return {
    ...more,
    ...(status.length > 0 && { status: status as JobResponse['status'][] }),
    ...(group.length > 0 && { jobGroup: group }),
    ...(name.length > 0 && { name }),
    ...(since !== undefined && { fromDate: since }),
    ...(until !== undefined && { toDate: until }),
    ...(all && { allOwners: true }),
  };
}
