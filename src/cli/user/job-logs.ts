import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { CommandError } from '../terminal/command-error.js';
import { printableLines, tell } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';

type Stream = Writable & { isTTY?: boolean };

/** Writes what a job has written until now. */
export async function logs(grid: GridConnection, jid: number, name: string): Promise<void> {
  const path = `/jobs/${jid}/output/${name.split('/').map(encodeURIComponent).join('/')}`;
  const { answer } = await grid.client.raw({ method: 'GET', path, answer: 'blob' });
  const bytes: ReadableStream<Uint8Array> | null = answer.body;
  const isTerminal = process.stdout.isTTY;
  const text = new TextDecoder();
  for await (const piece of bytes ?? []) {
    const shown = isTerminal ? printableLines(text.decode(piece, { stream: true }), true) : piece;
    await write(process.stdout, shown);
  }
}

/** Writes what a job writes until it has ended. Throws CommandError unless it is Done then. */
export async function followLogs(grid: GridConnection, jid: number, name: string): Promise<void> {
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
