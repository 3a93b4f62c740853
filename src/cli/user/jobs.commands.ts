import type { Command } from 'commander';
import type { JobResponse } from '#src/client/index.js';
import { group, type OptionsOf } from '../terminal/command.js';
import { confirm } from '../terminal/ask.js';
import { CommandError } from '../terminal/command-error.js';
import { isForPrograms, type Printing, type Shown } from '../terminal/output-format.js';
import { table, tell } from '../terminal/output.js';
import { idOf, jidOf, limitOf } from '../terminal/reading.js';
import type { GridConnection } from './grid-connection.js';
import { FILTER_OPTIONS, foundBy, queryOf, type JobFilter } from './job-filter.js';
import { jobsOf, listingOf, pageOf, waitForEnd } from './job-listing.js';
import { readLogs } from './job-logs.js';
import { fetchOutputs } from './job-output.js';
import { manifestsOf, sourcesOf } from './manifest-source.js';
import { onGrid } from './on-grid.js';
import { notesOf } from './output-notes.js';
import { JOB_OPTION_ROWS } from './script/job-options.js';
import { isProgramFile } from './script/program-file.js';
import { leftHere, PROGRAM_OPTIONS, send } from './sending.js';

/** A sweep of more jobs is asked about. */
const MANY = 1000;
/** The most that `status --limit` takes. */
const MOST = 10_000;
const USUAL = 20;

const SUBMIT_OPTIONS = [
  ...PROGRAM_OPTIONS,
  ['-e, --exec <program>', 'program of the site, or file of this directory, which goes along'],
  ['-a, --args <text>', 'arguments of the program'],
  ['--set <name=value>', 'fill {{name}} of the manifests', { repeated: true }],
  [
    '--sweep <name=values>',
    'a job for each value of %(name)s: 1,2,3 or 0:10:2; of several, for every combination',
    { repeated: true },
  ],
  [
    '--array [tasks]',
    'make the jobs an array (gridgate array), as a sweep is; or 1-10: an array with a job for each, which finds its number in SLURM_ARRAY_TASK_ID',
    { parse: tasksWord },
  ],
  ['--dry-run', 'only check'],
  ['--wait', 'wait until the jobs have ended; fails unless all are Done'],
  ['-y, --yes', `do not ask before a sweep of more than ${MANY} jobs`],
  ...JOB_OPTION_ROWS,
] as const;
type SubmitOptions = OptionsOf<typeof SUBMIT_OPTIONS> & Printing & { isMeant?: boolean };

const DIRECTORY = [
  '-C, --directory <path>',
  'where to; the job id by default. Of several jobs: where a directory for each is made',
] as const;

const id = ['<id>', 'id of the array', (word: string) => idOf(word, 'id of an array')] as const;
const EVERYBODYS = ['--all', 'also of an array of another owner'] as const;
const arrayCommands = group('array', 'jobs that were submitted as an array (submit --array)', [
  onGrid('show', 'how many members are in which state', {
    args: [id],
    show: async ({ client }, array) => {
      const value = await client.getArray(array);
      const { name, owner, total, submission, states } = value;
      const named = name === undefined ? '' : ` ${name}`;
      const rows = Object.entries(states).map(([state, count]) => [state, String(count)]);
      const title = `array ${array}${named} of ${owner}, ${total} jobs, submitted ${submission}`;
      const names = [String(array)];
      return { value, lines: [title, ...table(['STATUS', 'JOBS'], rows)], names };
    },
  }),
  onGrid('kill', 'kill every member that has not ended', {
    args: [id],
    options: [['--purge', 'delete the members afterwards']],
    show: async ({ client }, array, { purge }) => {
      const value = await client.killArray(array, { ...(purge && { purge }) });
      const done = purge ? 'deleted' : 'killed';
      return { value, lines: [`${value.killed} job(s) of array ${array} ${done}`] };
    },
  }),
  onGrid('retry', 'run the failed members again', {
    args: [id],
    show: async ({ client }, array) => {
      const value = await client.retryArray(array);
      const { retried, refused, left } = value;
      const often = `${refused} failed job(s) were rescheduled as often as they may be`;
      const lines = [
        `${retried} job(s) of array ${array} run again`,
        ...(refused > 0 ? [often] : []),
        ...(left > 0 ? [`${left} failed job(s) are left: no more jobs may wait now`] : []),
      ];
      return { value, lines };
    },
  }),
  onGrid('output', 'fetch and unpack the output sandboxes of the members', {
    args: [id],
    options: [DIRECTORY, EVERYBODYS],
    show: (grid, array, options) =>
      fetchOutputs(grid, [], { ...options, ...membersOf(array, options) }),
  }),
  onGrid('logs', 'what the members have written, each line behind its job and the arguments', {
    args: [id],
    options: [['-e, --err', 'standard error instead of standard output'], EVERYBODYS],
    run: (grid, array, { err, all }) =>
      readLogs(grid, [], {
        ...{ file: err ? 'std.err' : 'std.out', withArguments: true },
        ...membersOf(array, { all }),
      }),
  }),
]);

function membersOf(array: number, { all }: Pick<JobFilter, 'all'>): JobFilter {
  const none = { status: [], group: [], name: [], since: undefined, until: undefined };
  return { ...none, where: [`arrayId=${array}`], all };
}

/** `submit`, `status`, `output`, `array …`. */
export const jobsCommands: Command[] = [
  onGrid(
    'submit',
    'submit a script, as sbatch does (with its lines #GRID or #SBATCH), or jobs of manifests',
    {
      args: [
        [
          '[files...]',
          'a script, which goes along, and its arguments (options stand before it); or manifests (JSON), with the files beside them that they name; - for standard input',
        ],
      ],
      options: SUBMIT_OPTIONS,
      isProgram: isProgramFile,
      show: submit,
    },
  ),
  onGrid('status', 'state of jobs: the given ones, or your latest', {
    args: [['[jid...]', 'job ids', jidOf]],
    options: [
      ['-w, --watch', 'go on until every job has ended'],
      [
        '-l, --limit <number>',
        `at most so many, the latest (default: ${USUAL}, and all for csv)`,
        { parse: limitOf(MOST) },
      ],
      ...FILTER_OPTIONS,
    ],
    hasCsv: true,
    show: async (grid, jids, options) => {
      const query = queryOf(options);
      const { limit, output } = options;
      const found = await (jids.length > 0
        ? whole(jobsOf(grid, [...new Set(jids)], query))
        : limit === undefined && output === 'csv'
          ? whole(foundBy(grid, options))
          : pageOf(grid, { ...query, maxJobs: limit ?? USUAL }));
      const ids = found.jobs.map(({ jid }) => jid);
      const jobs = options.watch ? await waitForEnd(grid, ids, options) : found.jobs;
      const isLess = found.entries > jobs.length;
      return { ...listingOf(jobs), notes: isLess ? [leftOut(jobs.length, found.entries)] : [] };
    },
  }),
  onGrid('output', 'fetch and unpack the output sandbox of jobs', {
    args: [['[jid...]', 'job ids; or choose with --status, --group, --name, --where …', jidOf]],
    options: [DIRECTORY, ...FILTER_OPTIONS],
    show: fetchOutputs,
  }),
  arrayCommands,
];

async function whole(
  jobs: Promise<JobResponse[]>,
): Promise<{ jobs: JobResponse[]; entries: number }> {
  return { jobs: await jobs, entries: 0 };
}

/** Options of `submit` that stand behind a script, whose own words they are there. Throws CommandError for one that must not be missed. */
function ownWords([program = '', ...words]: string[]): string[] {
  const flags = [...SUBMIT_OPTIONS.map(([text]) => text), '--json', '--output', '-o'];
  const options = new Set(flags.flatMap((text) => /--[\w-]+|^-o$/.exec(text) ?? []));
  const given = words.filter((word) => options.has(word.replace(/=.*/s, '')));
  if (given.includes('--dry-run')) {
    const text = `--dry-run stands behind ${program}, whose own word it would be there`;
    const hint = `write it before the script; to give it to ${program}: gridgate submit -- ${program} --dry-run`;
    throw new CommandError(text, 2, hint);
  }
  return given.map((word) => `${word} goes to ${program}: options of submit stand before it`);
}

const NO_WAIT = 'leave --wait out; `gridgate release JID` lets it begin';

/** The tasks of `--array`. Throws CommandError for what would be a file. */
function tasksWord(word: string): string {
  if (/^[\d,:%-]+$/.test(word)) return word;
  const hint = 'give tasks such as 1-10; without any --array stands behind the manifests';
  throw new CommandError(`--array ${word} names no tasks`, 2, hint);
}

async function submit(
  grid: GridConnection,
  paths: string[],
  options: SubmitOptions,
): Promise<Shown> {
  const read = await sourcesOf(paths, options);
  const made = manifestsOf(read, options);
  if (options.wait && made.manifests.some(({ Hold }) => Hold === true)) {
    throw new CommandError(
      'a job that is held does not end, and --wait waits for the end',
      2,
      NO_WAIT,
    );
  }
  for (const warning of made.warnings) tell(`warning: ${warning}`);
  const own = options.isMeant ? [] : ownWords(paths);
  for (const warning of [...leftHere(read, made), ...own]) tell(`warning: ${warning}`);
  const total = made.swept * made.manifests.length;
  if (total > 0) tell(`the ${options.sweep.length > 0 ? 'sweep' : 'array'} makes ${total} job(s)`);
  if (total > MANY && !options.dryRun) await confirm(`Submit ${total} jobs?`, options.yes);
  const isArray = options.array === true || made.swept > 0;
  const value = await send(grid, made, { ...options, isArray });
  for (const { detail } of value.warnings ?? []) tell(`warning: ${detail}`);
  if ('valid' in value) return { value, lines: [`valid: ${value.jobs} job(s)`] };
  const { jids, arrayId } = value;
  if (arrayId !== undefined) tell(`array ${arrayId}`);
  const names = jids.map(String);
  if (!options.wait) return { value, lines: names, names };
  const jobs = await waitForEnd(grid, jids, options);
  const notes = isForPrograms(options) ? [] : await notesOf(grid, jids);
  return { ...listingOf(jobs), notes, fault: notDone(jobs) };
}

/** Unless every job is Done: where to look. */
function notDone(jobs: JobResponse[]): CommandError | false {
  const bad = jobs.find((job) => job.status !== 'Done');
  if (!bad) return false;
  const hint = `\`gridgate why ${bad.jid}\` says why, \`gridgate logs -e ${bad.jid}\` shows its errors`;
  return new CommandError('not every job is Done', 1, hint);
}

function leftOut(shown: number, entries: number): string {
  const more =
    entries <= MOST
      ? `--limit ${entries} shows all`
      : `--limit ${MOST} shows more, --status, --group and --where choose`;
  return `${shown} of ${entries} jobs; ${more}`;
}
