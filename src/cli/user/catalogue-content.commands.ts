import { createHash, type Hash } from 'node:crypto';
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
import { RequestException, Session, SSLError } from '#src/http-client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { safeFileName, say } from '../terminal/output.js';
import { progress } from '../terminal/progress.js';
import { writeWhole } from '../terminal/write-whole.js';
import { Adler32 } from './adler32.js';
import type { GridConnection } from './grid-connection.js';
import { onGrid } from './on-grid.js';
import { chosenCa } from './session-fetch.js';

/** Seconds without a byte after which a storage counts as away. */
const SILENCE_SECONDS = 60;
const HASHES = new Set(['md5', 'sha1', 'sha256', 'sha512']);

/** A storage has not answered with the file that the catalogue knows. */
class ReplicaFault extends Error {}

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
      faults.push(`${replica.se}: ${error.message}`);
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

/** Writes the bytes and compares them with what the catalogue knows. Throws ReplicaFault. */
async function fetchTo(
  output: Writable,
  storage: Session,
  file: FileAccessResponse,
): Promise<void> {
  const { url, presigned = url, headers = {}, size, checksum } = file;
  const total = Number(size);
  const bar = await progress({ title: 'receiving', total, isBytes: true });
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    const sums = new Sums(checksum);
    for await (const piece of bodyOf(storage, presigned, headers)) {
      sums.update(piece);
      if (sums.bytes > total) throw new ReplicaFault(`it has more than ${size} bytes`);
      bar.update(sums.bytes);
      yield piece;
    }
    sums.require(total);
  };
  try {
    await pipeline(Readable.from(pieces()), output, { end: output !== process.stdout });
  } finally {
    bar.stop();
  }
}

async function* bodyOf(
  storage: Session,
  url: string,
  headers: Record<string, string>,
): AsyncGenerator<Uint8Array> {
  try {
    const answer = await storage.get(url, { headers, stream: true });
    if (answer.status_code !== 200) {
      answer.close();
      throw new ReplicaFault(`it answers ${answer.status_code}`);
    }
    yield* answer.body;
  } catch (error) {
    if (!(error instanceof RequestException)) throw error;
    if (error instanceof SSLError) {
      throw new ReplicaFault('its certificate is not trusted: give its CA with --ca', {
        cause: error,
      });
    }
    // Its text has the address, which may be signed.
    throw new ReplicaFault(`it cannot be reached (${error.constructor.name})`, { cause: error });
  }
}

/** The checksums that the catalogue knows of a file, of the bytes as they come. */
class Sums {
  bytes = 0;
  private readonly sums = new Map<string, { sum: Adler32 | Hash; wanted: string }>();

  constructor(wanted: Readonly<Record<string, string>>) {
    for (const [kind, text] of Object.entries(wanted)) {
      const name = kind.replaceAll('-', '');
      const sum =
        name === 'adler32' ? new Adler32() : HASHES.has(name) ? createHash(name) : undefined;
      // Numbers are written without the zeros before them, too.
      const digits = text.toLowerCase().padStart(8, '0');
      if (sum) this.sums.set(kind, { sum, wanted: digits });
    }
  }

  update(piece: Uint8Array): void {
    this.bytes += piece.length;
    for (const { sum } of this.sums.values()) sum.update(piece);
  }

  /** Throws ReplicaFault for what is not the file. */
  require(size: number): void {
    if (this.bytes !== size) throw new ReplicaFault(`it has ${this.bytes} of ${size} bytes`);
    for (const [kind, { sum, wanted }] of this.sums) {
      const found = sum instanceof Adler32 ? sum.hex : sum.digest('hex');
      if (found !== wanted) {
        throw new ReplicaFault(`its ${kind} is ${found}, in the catalogue ${wanted}`);
      }
    }
  }
}
