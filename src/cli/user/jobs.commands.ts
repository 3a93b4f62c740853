import { readFile } from 'node:fs/promises';
import { existsSync, openAsBlob } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import type {
  JobListResponse,
  JobResponse,
  ListJobsQuery,
  ManifestRequest,
  SubmitJobsResponse,
} from '#src/client/index.js';
import { isJsonObject, parseJson, stringifyJson } from '#src/kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import { outputOption, present, type OutputFormat, type Shown } from '../terminal/output-format.js';
import { show, table, tell } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';
import { isShown, progress, type Progress } from './progress.js';
import { unpack } from './unpack.js';
import { withConnection } from './with-connection.js';

const FINAL = new Set(['Done', 'Failed', 'Killed', 'Deleted']);
const POLL_MS = 500;
const LATEST = 20;

interface SubmitOptions {
  file: string[];
  after: string[];
  exec?: string;
  args?: string;
  name?: string;
  array?: boolean;
  dryRun?: boolean;
  wait?: boolean;
  json?: boolean;
}

interface StatusOptions {
  status: string[];
  watch?: boolean;
  all?: boolean;
  limit: string;
  output: OutputFormat;
  json?: boolean;
}

/** `submit`, `status`, `output`, `kill`. */
export function jobCommands(): Command[] {
  return [submitCommand(), statusCommand(), outputCommand(), killCommand()];
}

function submitCommand(): Command {
  return new Command('submit')
    .description('submit a job; files of InputSandbox that lie beside the manifest go along')
    .argument('[manifest]', 'manifest file (JSON), - for standard input')
    .option('-f, --file <path>', 'input file; may be repeated', collect, [])
    .option('-e, --exec <program>', 'program to run, instead of a manifest')
    .option('-a, --args <text>', 'arguments of the program')
    .option('-n, --name <name>', 'JobName')
    .option('--array', 'make the jobs an array (gridgate array)')
    .option(
      '--after <jid[:on]>',
      'start after a job: done (default), failed or end; may be repeated',
      collect,
      [],
    )
    .option('--dry-run', 'only check')
    .option('--wait', 'wait until the job has ended; fails unless it is Done')
    .option('--json', 'print JSON')
    .action((manifest: string | undefined, options: SubmitOptions) =>
      withConnection((grid) => submit(grid, manifest, options)),
    );
}

async function submit(
  grid: GridConnection,
  path: string | undefined,
  options: SubmitOptions,
): Promise<void> {
  const manifest = await manifestOf(path, options);
  const folder = path === undefined || path === '-' ? '.' : dirname(path);
  const answer = await send(grid, manifest, inputFiles(manifest, folder, options.file), options);
  for (const { detail } of answer.warnings ?? []) tell(`warning: ${detail}`);
  if ('valid' in answer) {
    show(options.json, answer, () => [`valid: ${answer.jobs} job(s)`]);
    return;
  }
  const { jids, arrayId } = answer;
  if (arrayId !== undefined) tell(`array ${arrayId}`);
  if (!options.wait) {
    show(options.json, answer, () => jids.map(String));
    return;
  }
  const jobs = await waitForEnd(grid, { jid: jids, maxJobs: jids.length }, options);
  show(options.json, { jobs }, () => rowsOf(jobs));
  const bad = jobs.filter(({ status }) => status !== 'Done').map(({ jid }) => jid);
  if (bad.length > 0) {
    const text = `not every job is Done: look at \`gridgate output ${bad[0]}\``;
    throw new CommandError(text);
  }
}

/** Submits the manifest, with a bar while files go along. */
async function send(
  grid: GridConnection,
  manifest: ManifestRequest,
  paths: string[],
  { array, dryRun, json }: SubmitOptions,
): Promise<SubmitJobsResponse> {
  const query = { ...(array && { array }), ...(dryRun && { dryRun }) };
  if (paths.length === 0) return grid.client.submitJobs(manifest, query);
  const files = await Promise.all(
    paths.map(async (file) => ({ name: basename(file), content: await openAsBlob(file) })),
  );
  const total = files.reduce((sum, { content }) => sum + content.size, 0);
  const form = new FormData();
  form.append('manifest', stringifyJson(manifest));
  for (const { name, content } of files) form.append('file', content, name);
  const bar = await progress({ title: 'sending', total, isBytes: true, json });
  let sent = 0;
  grid.sent = (bytes) => bar.update((sent += bytes));
  try {
    return await grid.client.submitJobs(form, query);
  } finally {
    bar.stop();
    grid.sent = () => undefined;
  }
}

async function manifestOf(
  path: string | undefined,
  options: SubmitOptions,
): Promise<ManifestRequest> {
  const manifest: Partial<ManifestRequest> = path === undefined ? {} : await readManifest(path);
  if (options.exec !== undefined) manifest.Executable = options.exec;
  if (options.args !== undefined) manifest.Arguments = options.args;
  if (options.name !== undefined) manifest.JobName = options.name;
  if (options.after.length > 0) {
    const { After: given = [] } = manifest;
    manifest.After = [...given, ...options.after.map(conditionOf)];
  }
  if (Object.keys(manifest).length === 0) {
    throw new CommandError('give a manifest file, or --exec with the program to run', 2);
  }
  return manifest as ManifestRequest; // the service judges it
}

/** `7:end` as the condition that it is. */
function conditionOf(text: string): NonNullable<ManifestRequest['After']>[number] {
  const [, jid, on = 'done'] = /^(\d{1,15})(?::(done|failed|end))?$/.exec(text) ?? [];
  if (jid !== undefined) return { jid: Number(jid), on: on as 'done' | 'failed' | 'end' };
  throw new CommandError(`--after ${text}: give a job id, or one with :done, :failed or :end`, 2);
}

async function readManifest(path: string): Promise<Partial<ManifestRequest>> {
  let text: string;
  try {
    text = await readFile(path === '-' ? '/dev/stdin' : path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new CommandError(`${path} cannot be read (${reason})`, 2);
  }
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw new CommandError(`${path} is not valid JSON: ${(error as Error).message}`, 2);
  }
  throw new CommandError(`${path} must hold a JSON object`, 2);
}

function inputFiles(manifest: ManifestRequest, folder: string, given: string[]): string[] {
  const missing = given.filter((file) => !existsSync(file));
  if (missing.length > 0) throw new CommandError(`no such file: ${missing.join(', ')}`, 2);
  const names = new Set(given.map((file) => basename(file)));
  const wanted = [manifest.InputSandbox ?? []].flat().map(String);
  const beside = wanted
    .filter((name) => !names.has(name) && !/^(LFN|SB):/.test(name))
    .map((name) => resolve(folder, name))
    .filter((file) => existsSync(file));
  const program: unknown = manifest.Executable;
  const own = typeof program === 'string' && !program.includes('/') ? resolve(folder, program) : '';
  const isBeside = own !== '' && existsSync(own) && !names.has(basename(own));
  return [...new Set([...given, ...beside, ...(isBeside ? [own] : [])])];
}

function statusCommand(): Command {
  return new Command('status')
    .description('state of jobs: the given ones, or your latest')
    .argument('[jid...]', 'job ids')
    .option('-s, --status <state>', 'only jobs in this state; may be repeated', collect, [])
    .option('-w, --watch', 'go on until every job has ended')
    .option('--all', 'jobs of all owners')
    .option('-l, --limit <number>', 'at most so many, the latest', String(LATEST))
    .addOption(outputOption())
    .option('--json', 'the same as -o json')
    .action((jids: string[], options: StatusOptions) =>
      withConnection(async (grid) => {
        const query: ListJobsQuery = {
          maxJobs: Math.max(limitOf(options.limit), jids.length),
          ...(jids.length > 0 && { jid: jids.map(jidOf) }),
          ...(options.status.length > 0 && { status: options.status as JobResponse['status'][] }),
          ...(options.all && { allOwners: true }),
        };
        const page = await pageOf(grid, query);
        const jobs = options.watch ? await waitForEnd(grid, query, options) : page.jobs;
        await present(options.json ? 'json' : options.output, {
          value: { jobs },
          ...listingOf(jobs),
        });
        if (page.entries > jobs.length) {
          tell(`${jobs.length} of ${page.entries} jobs; --limit ${page.entries} shows all`);
        }
      }),
    );
}

/** The id of a job. Throws CommandError. */
export function jidOf(word: string): number {
  if (!/^[1-9]\d{0,15}$/.test(word)) {
    throw new CommandError(`${word} is no job id: a number such as 42 is expected`, 2);
  }
  return Number(word);
}

function limitOf(word: string): number {
  if (/^[1-9]\d{0,3}$|^10000$/.test(word)) return Number(word);
  throw new CommandError(`--limit ${word} is no number from 1 to 10000`, 2);
}

async function jobsOf(grid: GridConnection, query: ListJobsQuery): Promise<JobResponse[]> {
  return (await pageOf(grid, query)).jobs;
}

async function pageOf(grid: GridConnection, query: ListJobsQuery): Promise<JobListResponse> {
  const page = await grid.client.listJobs(query);
  const { jobs } = page;
  const wanted = [query.jid ?? []].flat();
  if (query.status === undefined) {
    const seen = new Set(jobs.map(({ jid }) => jid));
    const unknown = wanted.filter((jid) => !seen.has(jid));
    if (unknown.length > 0) {
      const text = `no such job: ${unknown.join(', ')} (or not yours: try --all)`;
      throw new CommandError(query.allOwners ? `no such job: ${unknown.join(', ')}` : text, 2);
    }
  }
  return page;
}

/** Asks until every job has ended. People see a bar; where nobody looks, a line for each change. */
async function waitForEnd(
  grid: GridConnection,
  query: ListJobsQuery,
  { json }: { json?: boolean },
): Promise<JobResponse[]> {
  let jobs = await jobsOf(grid, query);
  const bar = await progress({ title: 'ended', total: jobs.length, json });
  const tellsLines = !isShown(json) && json !== true;
  let last = '';
  try {
    for (;;) {
      const ended = jobs.filter(({ status }) => FINAL.has(status)).length;
      const line = summary(jobs);
      bar.update(ended, line);
      if (ended === jobs.length) return jobs;
      if (tellsLines && line !== last) tell(line);
      last = line;
      await pause(POLL_MS);
      jobs = await jobsOf(grid, query);
    }
  } finally {
    bar.stop();
  }
}

function summary(jobs: JobResponse[]): string {
  const counts = new Map<string, number>();
  for (const { status } of jobs) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${status} ${count}`).join(', ');
}

function listingOf(jobs: JobResponse[]): Omit<Shown, 'value'> {
  const rows = jobs.map((job) => [
    ...[String(job.jid), job.status, job.minorStatus, job.site, job.name],
    ...[job.owner, job.ownerGroup, job.jobGroup, job.appStatus],
  ]);
  const more = ['OWNER', 'GROUP', 'JOB GROUP', 'APPLICATION'];
  const heading = ['JID', 'STATUS', 'MINOR STATUS', 'SITE', 'NAME', ...more];
  return { heading, rows, wide: more.length, names: jobs.map(({ jid }) => String(jid)) };
}

function rowsOf(jobs: JobResponse[]): string[] {
  const { heading, rows, wide = 0 } = listingOf(jobs);
  const cut = (row: string[]): string[] => row.slice(0, heading.length - wide);
  return table(cut(heading), rows.map(cut));
}

function outputCommand(): Command {
  return new Command('output')
    .description('fetch and unpack the output sandbox')
    .argument('<jid>', 'job id')
    .option('-C, --directory <path>', 'where to; the job id by default')
    .option('--json', 'print JSON')
    .action((jid: string, options: { directory?: string; json?: boolean }) =>
      withConnection((grid) => output(grid, jidOf(jid), options)),
    );
}

async function output(
  grid: GridConnection,
  jid: number,
  options: { directory?: string; json?: boolean },
): Promise<void> {
  const path = `/jobs/${jid}/outputsandbox`;
  const { answer } = await grid.client.raw({ method: 'GET', path, answer: 'blob' });
  const total = Number(answer.headers.get('Content-Length') ?? 0);
  const directory = resolve(options.directory ?? String(jid));
  const bar = await progress({ title: 'fetching', total, isBytes: true, json: options.json });
  let files: string[];
  try {
    files = await unpack(counted(answer, bar), directory);
  } finally {
    bar.stop();
  }
  show(options.json, { directory, files }, () => files.map((name) => `${directory}/${name}`));
}

async function* counted(answer: Response, bar: Progress): AsyncGenerator<Uint8Array> {
  let received = 0;
  const body: ReadableStream<Uint8Array> | null = answer.body;
  for await (const chunk of body ?? []) {
    yield chunk;
    bar.update((received += chunk.length));
  }
}

function killCommand(): Command {
  return new Command('kill')
    .description('kill jobs')
    .argument('<jid...>', 'job ids')
    .option('--json', 'print JSON')
    .action((jids: string[], options: { json?: boolean }) =>
      withConnection(async (grid) => {
        const answer = await grid.client.killJobs({ jid: jids.map(jidOf) });
        const { results } = answer;
        const lines = Object.entries(results).map(([jid, { status, detail }]) =>
          status === 200 ? `${jid} killed` : `${jid} ${detail ?? status}`,
        );
        show(options.json, answer, () => lines);
        if (Object.values(results).some(({ status }) => status !== 200)) {
          throw new CommandError('not every job was killed', 2);
        }
      }),
    );
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
