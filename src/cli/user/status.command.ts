import { Command } from 'commander';
import type { JobResponse } from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { jsonOption, outputOption, present, type Printing } from '../terminal/output-format.js';
import { tell } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';
import { filterOptions, queryOf, type JobFilter } from './job-filter.js';
import { jobsOf, listingOf, pageOf, waitForEnd } from './job-listing.js';
import { withConnection } from './with-connection.js';
import { jidOf, limitOf } from './words.js';

interface StatusOptions extends Printing, JobFilter {
  watch?: boolean;
  limit: string;
}

const LATEST = 20;
/** The most that `--limit` takes. */
const MOST = 10_000;

/** `status`. */
export function statusCommand(): Command {
  const command = new Command('status')
    .description('state of jobs: the given ones, or your latest')
    .argument('[jid...]', 'job ids')
    .option('-w, --watch', 'go on until every job has ended')
    .option('-l, --limit <number>', 'at most so many, the latest', String(LATEST));
  return filterOptions(command)
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((words: string[], options: StatusOptions) =>
      withConnection((grid) => status(grid, words.map(jidOf), options)),
    );
}

async function status(grid: GridConnection, jids: number[], options: StatusOptions): Promise<void> {
  const query = queryOf(options);
  const limit = limitOf(options.limit);
  const found =
    jids.length > 0
      ? { jobs: await jobsOf(grid, [...new Set(jids)], query), entries: 0 }
      : await pageOf(grid, { ...query, maxJobs: limit });
  const jobs = options.watch
    ? await waitForEnd(
        grid,
        found.jobs.map(({ jid }) => jid),
        options,
      )
    : found.jobs;
  await present(options, { value: { jobs }, ...listingOf(jobs) });
  if (found.entries > jobs.length) tell(leftOut(jobs.length, found.entries));
}

function leftOut(shown: number, entries: number): string {
  const more =
    entries <= MOST
      ? `--limit ${entries} shows all`
      : `--limit ${MOST} shows more, --status, --group and --where choose`;
  return `${shown} of ${entries} jobs; ${more}`;
}

/** Fails unless every job is Done, and says where to look. */
export function demandDone(jobs: JobResponse[]): void {
  const bad = jobs.find((job) => job.status !== 'Done');
  if (bad) {
    const text = `not every job is Done: look at \`gridgate logs -e ${bad.jid}\` and \`gridgate describe ${bad.jid}\``;
    throw new CommandError(text);
  }
}
