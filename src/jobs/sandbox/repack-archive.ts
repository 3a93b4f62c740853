import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { posix } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack, type Extract, type Pack } from 'tar-stream';
import { Problem } from '#src/kernel/index.js';
import { relativePathFault } from '../manifest/file-name.js';
import { addInMemory, headerOf, type ArchiveFile } from './sandbox-archive.js';
import type { NewArchive } from './sandbox.store.js';

/** Bounds of an archive that somebody else has made. */
export interface ArchiveLimits {
  /** Of its files together. */
  maxBytes: number;
  maxFiles: number;
}

type Entry = Extract extends AsyncIterable<infer T> ? T : never;

/** A byte of a file may cost this many of its header: empty files are not free. */
const HEADER_BYTES = 512;

/**
 * Packs the files of a tar.gz of a stranger anew into the file `spool`, as they arrive: what is kept is an archive of ours, whatever theirs
 * would mean to another program. Throws Problem 400 `request.invalid` for what an output cannot hold: names that are absolute,
 * lead out of the directory, come twice or lie below a link, links that leave it, special files, and above the limits.
 */
export async function repackArchive(
  source: Readable,
  limits: ArchiveLimits,
  spool: string,
): Promise<{ archive: NewArchive; files: ArchiveFile[] }> {
  const untar = extract();
  const archive = pack();
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  const read = pipeline(source, createGunzip(), untar);
  const written = pipeline(
    archive,
    createGzip({ level: 6 }),
    meter,
    createWriteStream(spool, { mode: 0o600 }),
  );
  read.catch(() => undefined);
  written.catch(() => undefined);
  try {
    const files = await repackEntries(untar, archive, limits);
    await read;
    archive.finalize();
    await written;
    return { archive: { hash: hash.digest('hex'), sizeBytes, path: spool }, files };
  } catch (error) {
    source.destroy();
    archive.destroy(error as Error);
    throw isOfArchive(error) ? refusal('is not a whole tar.gz') : error;
  }
}

async function repackEntries(
  untar: Extract,
  archive: Pack,
  { maxBytes, maxFiles }: ArchiveLimits,
): Promise<ArchiveFile[]> {
  const files = new Map<string, ArchiveFile>();
  let left = maxBytes + maxFiles * HEADER_BYTES;
  for await (const entry of untar) {
    const file = fileOf(entry, files);
    left -= file.sizeBytes + HEADER_BYTES;
    if (left < 0 || files.size >= maxFiles) {
      throw refusal(`has more than ${maxBytes} bytes or ${maxFiles} files`);
    }
    files.set(file.name, file);
    await addEntry(archive, entry, file);
  }
  return [...files.values()];
}

function fileOf(entry: Entry, files: ReadonlyMap<string, ArchiveFile>): ArchiveFile {
  const { name: given, type, size, mode, mtime, linkname } = entry.header;
  const name = given.replace(/\/$/, '');
  const fault = relativePathFault(name) ?? (posix.normalize(name) === name ? undefined : 'is odd');
  if (fault !== undefined) throw refusal(`has a file whose name ${fault}`);
  if (files.has(name)) throw refusal('has a file twice');
  for (let above = posix.dirname(name); above !== '.'; above = posix.dirname(above)) {
    const known = files.get(above);
    if (known && !('isDirectory' in known.content)) {
      throw refusal('has a file below one that is no directory');
    }
  }
  if (type === 'file') {
    const modified = mtime && { modifiedAt: mtime };
    return {
      ...{ name, sizeBytes: size, content: Buffer.alloc(0), isExecutable: (mode & 0o100) !== 0 },
      ...modified,
    };
  }
  if (type === 'directory') return { name, sizeBytes: 0, content: { isDirectory: true } };
  if (type !== 'symlink') throw refusal(`has a special file (${type})`);
  const target = posix.normalize(posix.join(posix.dirname(name), linkname ?? ''));
  if (!linkname || linkname.startsWith('/') || relativePathFault(target) !== undefined) {
    throw refusal('has a link that leaves it');
  }
  return { name, sizeBytes: 0, content: { linkTo: target } };
}

async function addEntry(archive: Pack, entry: Entry, file: ArchiveFile): Promise<void> {
  if (entry.header.type === 'file') {
    await pipeline(entry, archive.entry(headerOf(file)));
    return;
  }
  addInMemory(archive, file);
  entry.resume();
}

function refusal(fault: string): Problem {
  return Problem.invalidField('archive', fault);
}

/** True for faults that the readers of tar and gzip find. */
function isOfArchive(error: unknown): boolean {
  if (error instanceof Problem || !(error instanceof Error)) return false;
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === undefined && (code === undefined || code.startsWith('Z_'));
}
