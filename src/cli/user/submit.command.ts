import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command } from 'commander';
import type { SubmittedJobsResponse } from '#src/client/index.js';
import { stringifyJson } from '#src/kernel/index.js';
import { confirm } from '../terminal/ask.js';
import { CommandError } from '../terminal/command-error.js';
import {
  isForPrograms,
  jsonOption,
  outputOption,
  present,
  show,
  type Printing,
} from '../terminal/output-format.js';
import { tell } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';
import { listingOf, waitForEnd } from './job-listing.js';
import { manifestsOf, type ManifestOptions, type Manifests } from './manifest-source.js';
import { progress } from './progress.js';
import { demandDone } from './status.command.js';
import { withConnection } from './with-connection.js';
import { collect } from './words.js';

interface SubmitOptions extends Printing, ManifestOptions {
  array?: boolean;
  dryRun?: boolean;
  wait?: boolean;
  yes?: boolean;
}

/** A sweep of more jobs is asked about. */
const MANY = 1000;

/** `submit`. */
export function submitCommand(): Command {
  return new Command('submit')
    .description('submit jobs; files of InputSandbox that lie beside a manifest go along')
    .argument('[manifests...]', 'manifest files (JSON), - for standard input')
    .option('-f, --file <path>', 'input file; may be repeated', collect, [])
    .option('-e, --exec <program>', 'program to run, instead of a manifest')
    .option('-a, --args <text>', 'arguments of the program')
    .option('-n, --name <name>', 'JobName')
    .option('-g, --group <name>', 'JobGroup')
    .option('--set <name=value>', 'fill {{name}} of the manifests; may be repeated', collect, [])
    .option(
      '--sweep <name=values>',
      'a job for each value of %(name)s: 1,2,3 or 0:10:2; may be repeated, for every combination',
      collect,
      [],
    )
    .option('--array', 'make the jobs an array (gridgate array); a sweep is one')
    .option(
      '--after <jid[:on]>',
      'start after a job: done (default), failed or end; may be repeated',
      collect,
      [],
    )
    .option('--dry-run', 'only check')
    .option('--wait', 'wait until the jobs have ended; fails unless all are Done')
    .option('-y, --yes', `do not ask before a sweep of more than ${MANY} jobs`)
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((paths: string[], options: SubmitOptions) =>
      withConnection((grid) => submit(grid, paths, options)),
    );
}

async function submit(
  grid: GridConnection,
  paths: string[],
  options: SubmitOptions,
): Promise<void> {
  const made = await manifestsOf(paths, options);
  for (const warning of made.warnings) tell(`warning: ${warning}`);
  const total = made.swept * made.manifests.length;
  if (total > 0) tell(`the sweep makes ${total} job(s)`);
  if (total > MANY && !options.dryRun) await confirm(`Submit ${total} jobs?`, options.yes);
  const answer = await send(grid, made, options);
  for (const { detail } of answer.warnings ?? []) tell(`warning: ${detail}`);
  if ('valid' in answer) {
    await show(options, answer, () => [`valid: ${answer.jobs} job(s)`]);
    return;
  }
  const { jids, arrayId } = answer;
  if (arrayId !== undefined) tell(`array ${arrayId}`);
  const names = jids.map(String);
  if (!options.wait) return show(options, answer, () => names, names);
  const jobs = await waitForEnd(grid, jids, options);
  await present(options, { value: { jobs }, ...listingOf(jobs) });
  demandDone(jobs);
}

/** Submits the manifests, all or none, with a bar while files go along. */
async function send(
  grid: GridConnection,
  { manifests, files: paths, swept }: Manifests,
  options: SubmitOptions,
): Promise<SubmittedJobsResponse> {
  const isArray = options.array === true || swept > 0;
  const query = { ...(isArray && { array: true }), ...(options.dryRun && { dryRun: true }) };
  if (paths.length === 0) {
    const [first] = manifests;
    const body = manifests.length === 1 && first ? first : { manifests };
    return grid.client.submitJobs(body, query);
  }
  const files = await Promise.all(paths.map(contentOf));
  const total = files.reduce((sum, { content }) => sum + content.size, 0);
  const form = new FormData();
  for (const manifest of manifests) form.append('manifest', stringifyJson(manifest));
  for (const { name, content } of files) form.append('file', content, name);
  const json = isForPrograms(options);
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

async function contentOf(path: string): Promise<{ name: string; content: Blob }> {
  try {
    if ((await stat(path)).isDirectory()) throw new CommandError(`${path} is a directory`, 2);
    return { name: basename(path), content: await openAsBlob(path) };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new CommandError(`${path} cannot be read (${code})`, 2);
  }
}
