import { readFile } from 'node:fs/promises';
import { existsSync, createReadStream } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { isJsonObject, parseJson, type JsonObject } from '#src/kernel/index.js';
import type { FilePart } from '#src/http-client/index.js';
import { CommandError } from '../command-error.js';
import { show, table, textOf } from '../output.js';
import { withConnection, type CallQuery, type GridConnection } from './grid-connection.js';
import { unpack } from './unpack.js';

const FINAL = new Set(['Done', 'Failed', 'Killed', 'Deleted']);
const POLL_MS = 500;
const LATEST = 20;

interface SubmitOptions {
  file: string[];
  exec?: string;
  args?: string;
  name?: string;
  dryRun?: boolean;
  wait?: boolean;
  json?: boolean;
}

interface StatusOptions {
  status: string[];
  watch?: boolean;
  all?: boolean;
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
  const files = inputFiles(manifest, folder, options.file);
  const parts = files.map((file): [string, FilePart] => [
    'file',
    [basename(file), createReadStream(file), 'application/octet-stream'],
  ]);
  const answer = await grid.json('POST', '/jobs', {
    ...(options.dryRun && { params: { dryRun: 'true' } }),
    ...(parts.length > 0
      ? { data: { manifest: JSON.stringify(manifest) }, files: parts }
      : { json: manifest }),
  });
  for (const warning of (answer['warnings'] ?? []) as string[]) {
    process.stderr.write(`warning: ${warning}\n`);
  }
  const jids = (answer['jids'] ?? []) as number[];
  if (!options.wait || options.dryRun) {
    const lines = options.dryRun
      ? [`valid: ${textOf(answer['jobs'])} job(s)`]
      : jids.map((jid) => String(jid));
    show(options.json, answer, () => lines);
    return;
  }
  const jobs = await waitForEnd(grid, { jid: jids.map(String) }, jids.length);
  show(options.json, { jobs }, () => rowsOf(jobs));
  if (jobs.some((job) => job['status'] !== 'Done')) throw new CommandError('not every job is Done');
}

async function manifestOf(path: string | undefined, options: SubmitOptions): Promise<JsonObject> {
  const manifest: JsonObject = path === undefined ? {} : await readManifest(path);
  if (options.exec !== undefined) manifest['Executable'] = options.exec;
  if (options.args !== undefined) manifest['Arguments'] = options.args;
  if (options.name !== undefined) manifest['JobName'] = options.name;
  if (Object.keys(manifest).length === 0) {
    throw new CommandError('give a manifest file, or --exec with the program to run', 2);
  }
  return manifest;
}

async function readManifest(path: string): Promise<JsonObject> {
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

function inputFiles(manifest: JsonObject, folder: string, given: string[]): string[] {
  const missing = given.filter((file) => !existsSync(file));
  if (missing.length > 0) throw new CommandError(`no such file: ${missing.join(', ')}`, 2);
  const names = new Set(given.map((file) => basename(file)));
  const wanted = [manifest['InputSandbox'] ?? []].flat().map(String);
  const beside = wanted
    .filter((name) => !names.has(name) && !/^(LFN|SB):/.test(name))
    .map((name) => resolve(folder, name))
    .filter((file) => existsSync(file));
  const program = manifest['Executable'];
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
    .option('--json', 'print JSON')
    .action((jids: string[], options: StatusOptions) =>
      withConnection(async (grid) => {
        const query: CallQuery = {
          maxJobs: Math.max(LATEST, jids.length),
          ...(jids.length > 0 && { jid: jids }),
          ...(options.status.length > 0 && { status: options.status }),
          ...(options.all && { allOwners: true }),
        };
        const jobs = options.watch
          ? await waitForEnd(grid, query, jids.length)
          : await jobsOf(grid, query, jids.length);
        show(options.json, { jobs }, () => rowsOf(jobs));
      }),
    );
}

async function jobsOf(
  grid: GridConnection,
  query: CallQuery,
  expected: number,
): Promise<JsonObject[]> {
  const answer = await grid.get('/jobs', query);
  const jobs = answer['jobs'] as JsonObject[];
  if (jobs.length < expected && query['status'] === undefined) {
    const seen = new Set(jobs.map((job) => textOf(job['jid'])));
    const unknown = (query['jid'] as string[]).filter((jid) => !seen.has(jid));
    throw new CommandError(`no such job: ${unknown.join(', ')}`, 2);
  }
  return jobs;
}

async function waitForEnd(
  grid: GridConnection,
  query: CallQuery,
  expected: number,
): Promise<JsonObject[]> {
  let last = '';
  for (;;) {
    const jobs = await jobsOf(grid, query, expected);
    const open = jobs.filter((job) => !FINAL.has(textOf(job['status'])));
    if (open.length === 0) return jobs;
    const line = summary(jobs);
    if (line !== last) process.stderr.write(`${line}\n`);
    last = line;
    await pause(POLL_MS);
  }
}

function summary(jobs: JsonObject[]): string {
  const counts = new Map<string, number>();
  for (const job of jobs) {
    const status = textOf(job['status']);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return [...counts].map(([status, count]) => `${status} ${count}`).join(', ');
}

function rowsOf(jobs: JsonObject[]): string[] {
  const columns = ['jid', 'status', 'minorStatus', 'site', 'name'];
  const rows = jobs.map((job) => columns.map((column) => textOf(job[column])));
  return table(['JID', 'STATUS', 'MINOR STATUS', 'SITE', 'NAME'], rows);
}

function outputCommand(): Command {
  return new Command('output')
    .description('fetch and unpack the output sandbox')
    .argument('<jid>', 'job id')
    .option('-C, --directory <path>', 'where to; the job id by default')
    .option('--json', 'print JSON')
    .action((jid: string, options: { directory?: string; json?: boolean }) =>
      withConnection(async (grid) => {
        const path = `/jobs/${encodeURIComponent(jid)}/outputsandbox`;
        const response = await grid.call('GET', path, { stream: true, timeout: 600 });
        const directory = resolve(options.directory ?? jid);
        const files = await unpack(response.body, directory);
        show(options.json, { directory, files }, () => files.map((name) => `${directory}/${name}`));
      }),
    );
}

function killCommand(): Command {
  return new Command('kill')
    .description('kill jobs')
    .argument('<jid...>', 'job ids')
    .option('--json', 'print JSON')
    .action((jids: string[], options: { json?: boolean }) =>
      withConnection(async (grid) => {
        const answer = await grid.json('DELETE', '/jobs', { params: { jid: jids } });
        const results = answer['results'] as Record<string, { status: number; detail?: string }>;
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
