import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import {
  GridError,
  readFileEntry,
  type AccessRequest,
  type FileAccessResponse,
} from '#src/client/index.js';
import { Session, SSLError } from '#src/http-client/index.js';
import { replicaBytes, ReplicaFault } from '#src/storage-client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { safeFileName, say } from '../terminal/output.js';
import { progress } from '../terminal/progress.js';
import { writeWhole } from '../terminal/write-whole.js';
import type { GridConnection } from './grid-connection.js';
import { onGrid } from './on-grid.js';
import { chosenCa } from './session-fetch.js';

/** Seconds without a byte after which a storage counts as away. */
const SILENCE_SECONDS = 60;

/** `gridgate catalogue get`: the bytes of files. */
export const contentCommands: Command[] = [
  onGrid('get', 'fetch a file from a storage element that has it; - writes to standard output', {
    args: [
      ['<path>', 'path in the catalogue'],
      ['[file]', 'where to; a file or directory here, by default the last name of the path'],
    ],
    options: [
      ['--se <name>', 'storage element; by default each that has it, until one gives it'],
      [
        '--ca <path>',
        'CAs of the storage, a file or directory; by default X509_CERT_DIR, or the CA of the login',
      ],
    ],
    run: async (grid, path, file, { se, ca = process.env['X509_CERT_DIR'] ?? grid.ca }) => {
      const storage = new Session({
        ...{ verify: chosenCa(ca), default_timeout: SILENCE_SECONDS, use_netrc: false },
      });
      try {
        await get({ grid, storage }, path, { file, se });
      } finally {
        await storage.close();
      }
    },
  }),
];

interface Links {
  grid: GridConnection;
  storage: Session;
}

async function get(
  links: Links,
  path: string,
  { file, se }: { file: string | undefined; se: string | undefined },
): Promise<void> {
  const faults: string[] = [];
  for await (const replica of replicasOf(links.grid, path, se)) {
    try {
      if (file === '-') {
        await fetchTo(process.stdout, links.storage, replica);
        return;
      }
      const target = await targetOf(path, file);
      await writeWhole(target, (output) => fetchTo(output, links.storage, replica));
      say(`${path} from ${replica.se} is ${target}`);
      return;
    } catch (error) {
      if (!(error instanceof ReplicaFault)) throw error;
      const hint = error.cause instanceof SSLError ? ': give its CA with --ca' : '';
      faults.push(`${replica.se}: ${error.message}${hint}`);
      if (file === '-') break; // a part of it may have been written
    }
  }
  throw new CommandError(`${path} cannot be fetched\n${faults.join('\n')}`, 3);
}

/** One after the other, with what opens it: first the one that the service chooses. */
async function* replicasOf(
  { client }: GridConnection,
  path: string,
  se: string | undefined,
): AsyncGenerator<FileAccessResponse> {
  const wish: AccessRequest = { paths: [path], right: 'read' };
  const [first] = await client.accessFiles({ ...wish, ...(se !== undefined && { se }) });
  if (!first) return;
  yield first;
  if (se !== undefined) return;
  const { replicas } = await readFileEntry(client, path);
  for (const other of Object.keys(replicas)) {
    if (other === first.se) continue;
    try {
      yield* await client.accessFiles({ ...wish, se: other });
    } catch (error) {
      // It has no address.
      if (!(error instanceof GridError) || ![400, 409].includes(error.status)) throw error;
    }
  }
}

async function targetOf(path: string, file: string | undefined): Promise<string> {
  const name = safeFileName(path.slice(path.lastIndexOf('/') + 1));
  if (file === undefined) return name;
  const isDirectory = (await stat(file).catch(() => undefined))?.isDirectory() === true;
  return isDirectory ? join(file, name) : file;
}

/** Writes the bytes as they come. Throws ReplicaFault, also of the last of them. */
async function fetchTo(
  output: Writable,
  storage: Session,
  file: FileAccessResponse,
): Promise<void> {
  const total = Number(file.size);
  const bar = await progress({ title: 'receiving', total, isBytes: true });
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const piece of replicaBytes(storage, file)) {
      bar.update((bytes += piece.length));
      yield piece;
    }
  };
  try {
    await pipeline(Readable.from(pieces()), output, { end: output !== process.stdout });
  } finally {
    bar.stop();
  }
}
