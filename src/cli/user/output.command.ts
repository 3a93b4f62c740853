import { resolve } from 'node:path';
import { Command } from 'commander';
import {
  isForPrograms,
  jsonOption,
  outputOption,
  show,
  type Printing,
} from '../terminal/output-format.js';
import { tell } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';
import { progress, type Progress } from './progress.js';
import { unpack } from './unpack.js';
import { withConnection } from './with-connection.js';
import { jidOf } from './words.js';

interface OutputOptions extends Printing {
  directory?: string;
}

/** `output`. */
export function outputCommand(): Command {
  return new Command('output')
    .description('fetch and unpack the output sandbox')
    .argument('<jid>', 'job id')
    .option('-C, --directory <path>', 'where to; the job id by default')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((jid: string, options: OutputOptions) =>
      withConnection((grid) => output(grid, jidOf(jid), options)),
    );
}

async function output(grid: GridConnection, jid: number, options: OutputOptions): Promise<void> {
  const path = `/jobs/${jid}/outputsandbox`;
  const { answer } = await grid.client.raw({ method: 'GET', path, answer: 'blob' });
  const total = Number(answer.headers.get('Content-Length') ?? 0);
  const directory = resolve(options.directory ?? String(jid));
  const bar = await progress({
    title: 'fetching',
    total,
    isBytes: true,
    json: isForPrograms(options),
  });
  let files: string[];
  try {
    files = await unpack(counted(answer, bar), directory);
  } finally {
    bar.stop();
  }
  await show(options, { directory, files }, () => files.map((name) => `${directory}/${name}`));
  if (isForPrograms(options)) return;
  const parameters = await grid.client.getJobParameters(jid);
  for (const [name, text] of NOTES) {
    if (parameters[name] !== undefined) tell(`${text}: ${parameters[name]}`);
  }
}

/** Parameters of a job that tell what is not among its files. */
const NOTES = [
  ['MissingOutput', 'asked for, and was not made'],
  ['OutputLeftOut', 'asked for, and could not be kept'],
  ['OutputNotRequested', 'made, and not asked for (OutputSandbox)'],
] as const;

async function* counted(answer: Response, bar: Progress): AsyncGenerator<Uint8Array> {
  let received = 0;
  const body: ReadableStream<Uint8Array> | null = answer.body;
  for await (const chunk of body ?? []) {
    yield chunk;
    bar.update((received += chunk.length));
  }
}
