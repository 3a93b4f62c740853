import { chmod, stat, utimes } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import pLimit from 'p-limit';
import { stringifyJson } from '#src/kernel/index.js';
import type { JobHistoryResponse } from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import {
  jsonOption,
  outputOption,
  present,
  show,
  type Printing,
} from '../terminal/output-format.js';
import { writeWhole } from '../terminal/write-whole.js';
import { safeFileName, say, table, tell } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';

import { withConnection } from './with-connection.js';
import { jidOf } from './words.js';

const AT_ONCE = 8;

/** `get`, `describe`, `history`, `cp`. */
export function jobDetailCommands(): Command[] {
  return [getCommand(), describeCommand(), historyCommand(), copyCommand()];
}

function getCommand(): Command {
  return new Command('get')
    .description('the record of jobs as the service keeps it; `describe` tells more of one')
    .argument('<jid...>', 'job ids')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((words: string[], options: Printing) =>
      withConnection(async (grid) => {
        const jids = [...new Set(words.map(jidOf))];
        const limit = pLimit(AT_ONCE);
        const [first, ...others] = await limit.map(jids, (jid) => grid.client.getJob(jid));
        if (first === undefined) return;
        const names = jids.map(String);
        const value = others.length === 0 ? first : { jobs: [first, ...others] };
        const lines = (): string[] =>
          [first, ...others].flatMap((job, index) => [
            ...(index > 0 ? [''] : []),
            ...membersOf(job),
          ]);
        await show(options, value, lines, names);
      }),
    );
}

function describeCommand(): Command {
  return new Command('describe')
    .description('everything about a job: its record, manifest, parameters, history and files')
    .argument('<jid>', 'job id')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((word: string, options: Printing) =>
      withConnection(async ({ client }) => {
        const jid = jidOf(word);
        const job = await client.getJob(jid);
        const [manifest, parameters, { history }] = await Promise.all([
          client.getJobManifest(jid),
          client.getJobParameters(jid),
          client.getJobHistory(jid),
        ]);
        const told = { job, manifest, parameters, history };
        await show(
          options,
          told,
          () => [
            ...membersOf(job),
            ...section('MANIFEST', membersOf(manifest)),
            ...section('PARAMETERS', membersOf(parameters)),
            ...section('HISTORY', table(MOVES, history.map(moveOf))),
          ],
          [String(jid)],
        );
      }),
    );
}

/** `name: value`; members that have members are named with them. */
function membersOf(value: object, before = ''): string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (member === null || member === '') return [];
    if (typeof member === 'object' && !Array.isArray(member)) {
      return membersOf(member, `${before}${name}.`);
    }
    const text = typeof member === 'string' ? member : stringifyJson(member);
    return [`${before}${name}: ${text}`];
  });
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

const MOVES = ['TIME', 'STATUS', 'MINOR STATUS', 'APPLICATION', 'SOURCE'];

function moveOf(move: JobHistoryResponse['history'][number]): string[] {
  return [move.time, move.status, move.minorStatus, move.appStatus, move.source];
}

function historyCommand(): Command {
  return new Command('history')
    .description('the states that a job has gone through')
    .argument('<jid>', 'job id')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((word: string, options: Printing) =>
      withConnection(async ({ client }) => {
        const value = await client.getJobHistory(jidOf(word));
        const { history } = value;
        const names = history.map(({ status }) => status);
        await present(options, { value, heading: MOVES, rows: history.map(moveOf), names });
      }),
    );
}

function copyCommand(): Command {
  return new Command('cp')
    .description('fetch one file of a sandbox: cp 42:std.out . (in:NAME for the input sandbox)')
    .argument('<source>', 'JID:NAME or JID:in:NAME')
    .argument('[target]', 'file or directory; - for standard output', '.')
    .option('--force', 'write over a file that is there')
    .action((source: string, target: string, { force }: { force?: boolean }) =>
      withConnection((grid) => copy(grid, source, target, force ?? false)),
    );
}

async function copy(
  grid: GridConnection,
  source: string,
  target: string,
  force: boolean,
): Promise<void> {
  const [, jid = '', from, name = ''] = /^(\d+):(in:)?(.+)$/s.exec(source) ?? [];
  if (name === '') {
    const text = `${source} names no file of a job: JID:NAME such as 42:std.out is expected; files go up with \`gridgate submit --file\``;
    throw new CommandError(text, 2);
  }
  const job = jidOf(jid);
  const sandbox = from === undefined ? 'outputsandbox' : 'inputsandbox';
  const path = `/jobs/${job}/${sandbox}/files/${encodeURIComponent(name)}`;
  const file = target === '-' ? undefined : await placeOf(target, name, force);
  const { answer } = await grid.client.raw({ method: 'GET', path, answer: 'blob' });
  const bytes = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
  if (file === undefined) return pipeline(bytes, process.stdout, { end: false });
  await writeWhole(file, (output) => pipeline(bytes, output), { isNew: !force });
  say(file);
  const info = await stat(file);
  if (!info.isFile()) return; // a device or a pipe stays as it is
  const list = from === undefined ? 'listOutputSandbox' : 'listInputSandbox';
  const { files } = await grid.client[list](job);
  const isExecutable = files.some((one) => one.name === name && one.executable);
  if (isExecutable) await chmod(file, info.mode | ((info.mode & 0o444) >> 2)); // for those who may read it
  const time = new Date(answer.headers.get('Last-Modified') ?? '');
  if (!Number.isNaN(time.getTime())) await utimes(file, time, time);
}

/** Where the file goes; in a directory it keeps the last part of its name. */
async function placeOf(target: string, name: string, force: boolean): Promise<string> {
  const info = await stat(target).catch(() => undefined);
  const place = info?.isDirectory() ? join(target, safeFileName(basename(name))) : target;
  const file = resolve(place);
  const isThere = await stat(file).catch(() => undefined);
  if (isThere?.isDirectory()) throw new CommandError(`${file} is a directory`, 2);
  if (isThere && !force) throw new CommandError(`${file} is there already; --force replaces it`, 2);
  if (isThere) tell(`replacing ${file}`);
  return file;
}
