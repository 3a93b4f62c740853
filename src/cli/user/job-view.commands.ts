import { chmod, stat, utimes } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import pLimit from 'p-limit';
import {
  GridError,
  type JobChange,
  type JobHistoryResponse,
  type JobResponse,
  type JobShareResponse,
  type JobTimelineResponse,
  type JobUsageResponse,
  type JobUsageRow,
  type ReportJobUsageQuery,
  type ShowJobTimelineQuery,
} from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { fieldsOf, listOf, type Columns, type Shown } from '../terminal/output-format.js';
import { emit, jsonText, safeFileName, say, table, tell } from '../terminal/output.js';
import { given, jidOf } from '../terminal/reading.js';
import { writeWhole } from '../terminal/write-whole.js';
import { explained } from './failures.js';
import type { GridConnection } from './grid-connection.js';
import { endOf, linesOf } from './job-end.js';
import { isFinal } from './job-listing.js';
import { FILTER_OPTIONS, stateOf } from './job-filter.js';
import { readLogs } from './job-logs.js';
import { onGrid } from './on-grid.js';
import { notesOf } from './output-notes.js';
import { claimsOf } from './token-claims.js';

const AT_ONCE = 8;
const KEYS = ['month', 'day', 'vo', 'group', 'owner', 'site', 'jobGroup'] as const;
const JID = ['<jid>', 'job id', jidOf] as const;

/** `get`, `describe`, `history`, `logs`, `cp`, `why`. */
export const jobViewCommands: Command[] = [
  onGrid('get', 'the record of jobs as the service keeps it', {
    args: [['<jid...>', 'job ids', jidOf]],
    show: async ({ client }, words) => {
      const jids = [...new Set(words)];
      const jobs = await pLimit(AT_ONCE).map(jids, (jid) => client.getJob(jid));
      const value = jobs.length === 1 ? jobs[0] : { jobs };
      const lines = jobs.flatMap((job) => ['', ...fieldsOf(job)]).slice(1);
      return { value, lines, names: jids.map(String) };
    },
  }),
  onGrid(
    'describe',
    'everything about a job: record, manifest, parameters, history (as JSON, submit makes the same job of it)',
    {
      args: [JID],
      show: async ({ client }, jid) => {
        const job = await client.getJob(jid);
        const [manifest, parameters, { history }] = await Promise.all([
          client.getJobManifest(jid),
          client.getJobParameters(jid),
          client.getJobHistory(jid),
        ]);
        const { table: moves } = listOf(history, history, MOVES);
        const lines = [
          ...fieldsOf(job),
          ...section('MANIFEST', fieldsOf(manifest)),
          ...section('PARAMETERS', fieldsOf(parameters)),
          ...section('HISTORY', table(moves?.heading ?? [], moves?.rows ?? [])),
        ];
        return { value: { job, manifest, parameters, history }, lines, names: [String(jid)] };
      },
    },
  ),
  onGrid('history', 'the states that a job has gone through', {
    args: [JID],
    show: async ({ client }, jid) => {
      const value = await client.getJobHistory(jid);
      const names = value.history.map(({ status }) => status);
      return { ...listOf(value, value.history, MOVES), names };
    },
  }),
  onGrid('logs', 'what jobs have written, also while they run', {
    args: [['[jid...]', 'job ids; or choose with --status, --group, --name, --where …', jidOf]],
    options: [
      ['-f, --follow', 'go on until the job has ended'],
      ['-e, --err', 'standard error instead of standard output'],
      ['--file <name>', 'another file that the job gives back'],
      ...FILTER_OPTIONS,
    ],
    run: (grid, jids, { file, err, ...options }) =>
      readLogs(grid, jids, { ...options, file: file ?? (err ? 'std.err' : 'std.out') }),
  }),
  onGrid(
    'cp',
    'fetch one file of a job: cp 42:std.out . or cp 42:in:run.sh . of the input sandbox',
    {
      args: [
        ['<source>', 'JID:NAME or JID:in:NAME'],
        ['[target]', 'file or directory; - for standard output', '.'],
      ],
      options: [['--force', 'write over a file that is there']],
      run: (grid, source, target, { force = false }) => copy(grid, source, target, force),
    },
  ),
  onGrid('why', 'what a job waits for, and why it does not run at each site; or why it has ended', {
    args: [JID],
    show: async (grid, jid) => {
      const value = await grid.client.explainJob(jid);
      const { status, waitsFor, place, share, sites } = value;
      if (isFinal(status)) return whyEnded(grid, jid);
      const among = share ? 'among the jobs of its owner' : 'in the queue';
      const position = place === undefined ? '' : `, place ${place} ${among}`;
      const lines = [
        `${jid} is ${status}${position}`,
        `waits for: ${waitsFor}`,
        ...(share ? [standingOf(share)] : []),
        ...table(['SITE', 'WHY NOT THERE'], Object.entries(sites)),
      ];
      return { value, lines };
    },
  }),
];

const MOVES: Columns<JobHistoryResponse['history'][number]> = {
  TIME: 'time',
  STATUS: 'status',
  'MINOR STATUS': 'minorStatus',
  APPLICATION: 'appStatus',
  SOURCE: 'source',
};

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function standingOf({ group, used, due, ownerUsed, ownersBefore }: JobShareResponse): string {
  const percent = (part: number): string => `${Math.round(part * 100)} %`;
  const had = `${group} has had ${percent(used)} of what was used lately and is due ${percent(due)}`;
  return `share: ${had}; its owner has had ${percent(ownerUsed)} of that; owners who come first: ${ownersBefore}`;
}

async function whyEnded(grid: GridConnection, jid: number): Promise<Shown> {
  const end = await endOf(grid, jid);
  return { value: end, lines: linesOf(end) };
}

async function copy(
  grid: GridConnection,
  source: string,
  target: string,
  force: boolean,
): Promise<void> {
  const [, word = '', from, name = ''] = /^(\d+):(in:)?(.+)$/s.exec(source) ?? [];
  if (name === '') {
    const hint = 'give JID:NAME such as 42:std.out; files go up with `gridgate submit --file`';
    throw new CommandError(`${source} names no file of a job`, 2, hint);
  }
  const jid = jidOf(word);
  const sandbox = from === undefined ? 'outputsandbox' : 'inputsandbox';
  const path = `/jobs/${jid}/${sandbox}/files/${encodeURIComponent(name)}`;
  const file = target === '-' ? undefined : await fileOf(target, name, force);
  const asked = { method: 'GET', path, answer: 'blob' } as const;
  const { answer } = await grid.client.raw(asked).catch(async (error: unknown) => {
    const isMissing = error instanceof GridError && error.status === 404;
    if (from === undefined && isMissing) for (const note of await notesOf(grid, [jid])) tell(note);
    throw error;
  });
  const bytes = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
  if (file === undefined) return pipeline(bytes, process.stdout, { end: false });
  await writeWhole(file, (output) => pipeline(bytes, output), { isNew: !force });
  say(file);
  const info = await stat(file);
  if (!info.isFile()) return; // a device or a pipe stays as it is
  const list = from === undefined ? 'listOutputSandbox' : 'listInputSandbox';
  const { files } = await grid.client[list](jid);
  const isExecutable = files.some((one) => one.name === name && one.executable);
  if (isExecutable) await chmod(file, info.mode | ((info.mode & 0o444) >> 2)); // for those who may read it
  const time = new Date(answer.headers.get('Last-Modified') ?? '');
  if (!Number.isNaN(time.getTime())) await utimes(file, time, time);
}

/** Where the file goes; in a directory it keeps the last part of its name. */
async function fileOf(target: string, name: string, force: boolean): Promise<string> {
  const info = await stat(target).catch(() => undefined);
  const path = info?.isDirectory() ? join(target, safeFileName(basename(name))) : target;
  const file = resolve(path);
  const isThere = await stat(file).catch(() => undefined);
  if (isThere?.isDirectory()) throw new CommandError(`${file} is a directory`, 2);
  if (isThere && !force) {
    throw new CommandError(`${file} is there already`, 2, '--force replaces it');
  }
  if (isThere) tell(`replacing ${file}`);
  return file;
}

/** `watch`, `timeline`, `usage`. */
export const jobReportCommands: Command[] = [
  onGrid('watch', 'tell each move of your jobs as it happens, until it is interrupted', {
    options: [
      ['-s, --status <state>', 'only moves into this state', { repeated: true }],
      ['-g, --group <name>', 'only jobs of this JobGroup'],
      ['--all', 'jobs of all owners'],
      ['--json', 'print a JSON object for each move'],
    ],
    run: async ({ client }, { status, group, all, json = false }) => {
      const query = {
        ...(status.length > 0 && { status: status.map(stateOf) as JobResponse['status'][] }),
        ...given({ jobGroup: group, allOwners: all }),
      };
      for await (const change of client.watchJobs(query)) sayChange(change, json);
    },
  }),
  onGrid('timeline', 'how many of your jobs were in which state, in steps of time', {
    options: [
      ['--from <time>', 'day or instant; a day before the end by default'],
      ['--to <time>', 'day or instant; now by default'],
      ['--step <seconds>', 'seconds between two lines; an hour by default'],
      ['--group <attribute>', 'divide by an attribute, for example Site'],
      ['--all', 'jobs of all owners'],
    ],
    show: async (grid, { step = '3600', from, to, group, all }) => {
      const by = group as (ShowJobTimelineQuery['group'] & string) | undefined;
      const query = { step: Number(step), ...given({ from, to, group: by, allOwners: all }) };
      const value = await grid.client.showJobTimeline(query).catch((error: unknown) => {
        throw notAnAttribute(error, grid.server);
      });
      const isEmpty = value.series.every(({ counts }) => counts.every((count) => count === 0));
      return { value, lines: timelineOf(value), notes: isEmpty ? ['no job is found'] : [] };
    },
  }),
  onGrid(
    'usage',
    'what runs had and used: hours they ran, those of processors they had, CPU time of these, memory, energy',
    {
      options: [
        [
          '--from <time>',
          'first month or day (UTC), 2026-01, 2026-01-31 or today (default: this month)',
        ],
        ['--to <time>', 'last month or day (default: today)'],
        ['--since <time>', 'as --from', { hidden: true, conflicts: 'from' }],
        ['--until <time>', 'as --to', { hidden: true, conflicts: 'to' }],
        ['--by <keys>', `what to divide by: ${KEYS.join(', ')} (default: month,group)`],
        ['--group <name>', 'only runs of jobs of this group of people'],
        ['--owner <name>', 'only runs of jobs of this owner'],
        ['--site <name>', 'only runs at this site'],
        ['--job-group <name>', 'only runs of jobs of this JobGroup, of the last 100 days'],
        ['--csv', 'as a table for spreadsheets', { conflicts: 'json' }],
      ],
      show: async (grid, { since, until, from = since, to = until, csv, ...wanted }) => {
        const { client } = grid;
        const { by, group, owner, site, jobGroup } = wanted;
        const days = { from: dayOf(from), to: dayOf(to) };
        const query: ReportJobUsageQuery = given({ ...days, by, group, owner, site, jobGroup });
        if (csv) {
          const asked = { method: 'GET', path: '/jobs/usage', query, answer: 'json' } as const;
          const { answer } = await client.raw(asked, { headers: { Accept: 'text/csv' } });
          emit((await answer.text()).trimEnd());
          return undefined;
        }
        const value = await client.reportJobUsage(query);
        const keys = KEYS.filter((key) => value.rows.some((row) => row[key] !== undefined));
        const first = Object.fromEntries(keys.map((key) => [key.toUpperCase(), key]));
        const names = value.rows.map((row) => keys.map((key) => row[key]).join(' '));
        const notes = value.rows.length === 0 ? await noRuns(grid, value, group) : [];
        const [key] = keys;
        const total: JobUsageRow = { ...value.total, ...(key && { [key]: 'TOTAL' }) };
        const rows = value.rows.length > 1 ? [...value.rows, total] : value.rows;
        const shown = listOf(value, rows, { ...first, ...USAGE });
        return { ...shown, names, notes };
      },
    },
  ),
];

/** What the service says of `timeline --group`, with what the option is. */
function notAnAttribute(error: unknown, server: string): unknown {
  const isOfGroup =
    error instanceof GridError && error.violations.some(({ field }) => field === 'group');
  const told = explained(error, server);
  if (!isOfGroup || !(told instanceof CommandError)) return told;
  return new CommandError(told.message, told.exitCode, DIVIDES);
}

const DIVIDES = '--group divides by an attribute such as Site or JobGroup';

function sayChange(change: JobChange, json: boolean): void {
  if (change.kind === 'list') {
    if (change.isFirst && !json) tell('watching');
  } else if (json) {
    emit(jsonText({ event: change.kind, ...change.job }));
  } else if (change.kind === 'job') {
    const { jid, status, minorStatus, site, lastUpdate } = change.job;
    say([lastUpdate, jid, status, minorStatus, site].join('  '));
  }
}

function timelineOf({ from, step, series }: JobTimelineResponse): string[] {
  const columns = series.map(({ status, group }) =>
    group === undefined ? status : `${status} ${group}`,
  );
  const rows = (series[0]?.counts ?? []).map((_, index) => {
    const time = new Date(Date.parse(from) + index * step * 1000);
    return [time.toISOString(), ...series.map(({ counts }) => String(counts[index] ?? 0))];
  });
  return table(['TIME', ...columns.map((column) => column.toUpperCase())], rows);
}

/** `today` and `yesterday` as days of UTC. */
function dayOf(word: string | undefined): string | undefined {
  const daysAgo = ['today', 'yesterday'].indexOf(word ?? '');
  if (daysAgo < 0) return word;
  return new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
}

/** That nothing was found, and what a group is, where it is not that of the login. */
async function noRuns(
  grid: GridConnection,
  { from, to }: JobUsageResponse,
  group: string | undefined,
): Promise<string[]> {
  const { group: own } = claimsOf(await grid.accessToken());
  const isOther = group !== undefined && group !== own;
  return [
    `no run is found from ${from} to ${to}`,
    ...(isOther
      ? [`--group is the group of people, such as ${own}; --job-group is that of jobs`]
      : []),
  ];
}

/** Two digits also of what is little. */
function hours(value: number): string {
  return value >= 1 || value === 0 ? value.toFixed(2) : value.toPrecision(2);
}

const USAGE: Columns<JobUsageRow> = {
  RUNS: 'runs',
  DONE: 'done',
  'WALL H': ({ wallHours }) => hours(wallHours),
  'PROCESSOR H': ({ processorHours }) => hours(processorHours),
  'CPU H': ({ cpuHours }) => hours(cpuHours),
  'CPU %': ({ cpuEfficiency }) => cpuEfficiency?.toFixed(1) ?? '-',
  'MEMORY %': ({ memoryEfficiency }) => memoryEfficiency?.toFixed(1) ?? '-',
  KWH: ({ energy }) => energy.toFixed(3),
};
