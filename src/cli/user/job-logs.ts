import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { CommandError } from '../terminal/command-error.js';
import { printableLines, tell } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';
import { chosenJobs, eachRead, missingFault } from './job-choice.js';
import type { JobFilter } from './job-filter.js';

const MOST_SHOWN = 60;
/** Of one of several files: a few are in memory at once. */
const MOST_BYTES = 32 * 1024 * 1024;

type Stream = Writable & { isTTY?: boolean };

/** Which file is read, of which jobs, and whether it is followed; with `withArguments` the arguments of each stand beside its id. */
type LogOptions = JobFilter & { file: string; follow?: true | undefined; withArguments?: true };

/** Writes what jobs have written: of one that is named as it is, of several each line behind the id of its job. */
export async function readLogs(
  grid: GridConnection,
  named: readonly number[],
  { file, follow, withArguments, ...filter }: LogOptions,
): Promise<void> {
  const { jids, isOne } = await chosenJobs(grid, 'logs of', { jids: named, filter });
  const [first = 0] = jids;
  if (isOne) return follow ? followLogs(grid, first, file) : logs(grid, first, file);
  if (follow) throw new CommandError('one job can be followed', 2, 'give its id: logs -f 42');
  const missing = await eachRead(grid, jids, {
    read: async (jid) => {
      const answer = await outputOf(grid, jid, file);
      if (Number(answer.headers.get('Content-Length') ?? 0) > MOST_BYTES) {
        await answer.body?.cancel();
        throw new CommandError(
          `${file} is too long to stand among others`,
          2,
          `\`gridgate logs ${jid}\` shows it`,
        );
      }
      const text = await answer.text();
      return { text, of: withArguments ? await argumentsOf(grid, jid) : '' };
    },
    take: (jid, { text, of }) => {
      const lines = printableLines(text, process.stdout.isTTY).replace(/\n$/, '').split('\n');
      if (text !== '')
        process.stdout.write(lines.map((line) => `job ${jid}${of}: ${line}\n`).join(''));
    },
  });
  const fault = missingFault(missing, jids);
  if (fault) throw fault;
}

/** What a job was run with, in brackets. */
async function argumentsOf({ client }: GridConnection, jid: number): Promise<string> {
  const { Arguments: words = '' } = await client.getJobManifest(jid);
  const [text = ''] = printableLines([words].flat().join(' '), true).split('\n');
  const short = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
  return short === '' ? '' : ` (${short})`;
}

async function outputOf(grid: GridConnection, jid: number, name: string): Promise<Response> {
  const path = `/jobs/${jid}/output/${name.split('/').map(encodeURIComponent).join('/')}`;
  return (await grid.client.raw({ method: 'GET', path, answer: 'blob' })).answer;
}

/** Writes what a job has written until now. */
async function logs(grid: GridConnection, jid: number, name: string): Promise<void> {
  const bytes: ReadableStream<Uint8Array> | null = (await outputOf(grid, jid, name)).body;
  const isTerminal = process.stdout.isTTY;
  const text = new TextDecoder();
  for await (const piece of bytes ?? []) {
    const shown = isTerminal ? printableLines(text.decode(piece, { stream: true }), true) : piece;
    await write(process.stdout, shown);
  }
}

/** Writes what a job writes until it has ended. Throws CommandError unless it is Done then. */
async function followLogs(grid: GridConnection, jid: number, name: string): Promise<void> {
  const end = await followTo(process.stdout, { grid, jid, name });
  if (end === 'Done') return;
  throw new CommandError(`job ${jid}: ${end}`, 1, `\`gridgate why ${jid}\` says why`);
}

/** Writes what a job writes into one of its files until it has ended; answers its state, or why no more comes. */
export async function followTo(
  stream: Stream,
  { grid, jid, name }: { grid: GridConnection; jid: number; name: string },
): Promise<string> {
  const isTerminal = stream.isTTY === true;
  for await (const event of grid.client.followOutput(jid, name)) {
    if (event.event === 'output') {
      const { text, base64 } = event;
      const isText = isTerminal || base64 === undefined;
      await write(
        stream,
        isText ? printableLines(text, isTerminal) : Buffer.from(base64, 'base64'),
      );
    }
    if (event.event === 'restart') tell(`job ${jid} begins ${name} anew`);
    if (event.event === 'end') return event.status ?? event.reason;
  }
  return 'no more comes';
}

async function write(stream: Stream, piece: string | Uint8Array): Promise<void> {
  if (!stream.write(piece)) await once(stream, 'drain');
}
