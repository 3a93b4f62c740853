import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Writable } from 'node:stream';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import {
  encodePath,
  GridError,
  readFileEntry,
  type AccessRequest,
  type FileAccessResponse,
} from '#src/client/index.js';
import { Session } from '#src/http-client/index.js';
import { digestsOf, replicaBytes, ReplicaFault, sendBytes } from '#src/storage-client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { unreadable } from '../terminal/reading.js';
import { safeFileName, say } from '../terminal/output.js';
import { progress } from '../terminal/progress.js';
import { writeWhole } from '../terminal/write-whole.js';
import type { GridConnection } from './grid-connection.js';
import { onGrid } from './on-grid.js';
import { chosenCa } from './session-fetch.js';

/** Seconds without a byte after which a storage counts as away. */
const SILENCE_SECONDS = 60;
/** Bytes of a second on a slow line. */
const SLOW_BYTES = 1_000_000;
/** Of files at S3 that are larger the service does not compare the Adler32. */
const MOST_READ_BYTES = 1024 ** 3;

/** CAs of storages. */
export const STORAGE_CA = [
  '--ca <path>',
  'CAs of the storage, a file or directory; by default X509_CERT_DIR, or the CA of the login',
] as const;

/** `gridgate catalogue get`: the bytes of files. */
export const contentCommands: Command[] = [
  onGrid('get', 'fetch a file from a storage element that has it; - writes to standard output', {
    args: [
      ['<path>', 'path in the catalogue'],
      ['[file]', 'where to; a file or directory here, by default the last name of the path'],
    ],
    options: [
      ['--se <name>', 'storage element; by default each that has it, until one gives it'],
      STORAGE_CA,
    ],
    run: (grid, path, file, { se, ca }) =>
      withStorage(grid, ca, (links) => get(links, path, { file, se })),
  }),
];

/** What `catalogue put` says of a file besides its bytes. */
export interface UploadOptions {
  se: string | undefined;
  ca: string | undefined;
  mode: number | undefined;
  guid: string | undefined;
}

/** Writes a file to a storage element and registers it; answers its path. */
export async function upload(
  grid: GridConnection,
  file: string,
  wanted: string,
  { se, ca, mode, guid }: UploadOptions,
): Promise<string> {
  const path = wanted.endsWith('/') ? `${wanted}${basename(file)}` : wanted;
  const { size, adler32, sha256, md5 } = await sumsOf(file);
  const [place] = await grid.client.accessFiles({
    ...{ paths: [path], right: 'create', contents: [{ size, md5 }] },
    // The path is not ours any longer than this.
    ...{ seconds: Math.min(3_600, 900 + Math.ceil(size / SLOW_BYTES)) },
    ...(se !== undefined && { se }),
  });
  if (!place) return path;
  const checksum =
    place.presigned !== undefined && size > MOST_READ_BYTES
      ? { Checksum: md5, ChecksumType: 'MD5' }
      : { Checksum: adler32, ChecksumType: 'Adler32' };
  const refused = await send(file, { ...place, size }, authorities(grid, ca));
  try {
    await grid.client.registerFile(encodePath(path), {
      ...{ Size: size, ...checksum, SHA256: sha256, SE: place.se },
      ...(mode !== undefined && { Mode: mode }),
      ...(guid !== undefined && { GUID: guid }),
    });
  } catch (error) {
    throw refused && error instanceof GridError ? refused : error;
  }
  say(`${file} is ${path} at ${place.se}`);
  return path;
}

async function sumsOf(file: string): Promise<Awaited<ReturnType<typeof digestsOf>>> {
  try {
    return await digestsOf(createReadStream(file) as AsyncIterable<Buffer>, { withMd5: true });
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Answers what the storage refuses: what lies there may be what an earlier put has brought, and whoever registers it looks. */
async function send(
  file: string,
  { path, se, size, expires, ...address }: Sized,
  ca: string | true,
): Promise<CommandError | undefined> {
  const bar = await progress({ title: 'sending', total: size, isBytes: true });
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    let sent = 0;
    for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
      yield piece;
      bar.update((sent += piece.length));
    }
  };
  try {
    await sendBytes(address, { size, bytes, ca, silenceMs: SILENCE_SECONDS * 1000 });
    return undefined;
  } catch (error) {
    if (!(error instanceof ReplicaFault)) throw error;
    const text = `${se} does not take ${path}: ${error.message}${hintOf(error)}`;
    const refused = new CommandError(text, 3, `${path} is free again an hour after ${expires}`);
    if (error.kind === 'closed') return refused;
    throw refused;
  } finally {
    bar.stop();
  }
}

type Sized = FileAccessResponse & { size: number };

async function withStorage(
  grid: GridConnection,
  ca: string | undefined,
  work: (links: Links) => Promise<void>,
): Promise<void> {
  const verify = authorities(grid, ca);
  const storage = new Session({ verify, default_timeout: SILENCE_SECONDS, use_netrc: false });
  try {
    await work({ grid, storage });
  } finally {
    await storage.close();
  }
}

function authorities(grid: GridConnection, ca: string | undefined): string | true {
  return chosenCa(ca ?? process.env['X509_CERT_DIR'] ?? grid.ca);
}

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
      faults.push(`${replica.se}: ${error.message}${hintOf(error)}`);
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
  const { size = 0 } = file;
  const total = Number(size);
  const bar = await progress({ title: 'receiving', total, isBytes: true });
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const piece of replicaBytes(storage, { ...file, size })) {
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

function hintOf({ message }: ReplicaFault): string {
  return message.endsWith('not trusted') ? ': give its CA with --ca' : '';
}
