import { createWriteStream } from 'node:fs';
import { posix } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack, type Extract, type Pack } from 'tar-stream';
import { Problem } from '#src/kernel/index.js';
import { isWellFormed } from '../manifest/file-name.js';
import { addInMemory, archiveMeter, headerOf, type ArchiveFile } from './sandbox-archive.js';
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
/** What stands beside the bytes of a file at most: its header, records of pax or GNU with its name, and what fills blocks up. */
const MOST_BESIDE_BYTES = 8192;
/** Zeros at the end. */
const MOST_END_BYTES = 1024 * 1024;
const MAX_PATH_BYTES = 4096;
/** Of all names together: they stand in the list of the archive. */
const MOST_NAME_BYTES = 4 * 1024 * 1024;
const MAX_NAME_BYTES = 255;
const PAX_TIME = /^-?\d{1,12}(\.\d{1,12})?$/;
const MAX_DEPTH = 100;
const BELOW = 'has a file below one that is no directory';

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
  const { meter, measured } = archiveMeter();
  const target = createWriteStream(spool, { mode: 0o600 });
  const read = pipeline(source, createGunzip(), boundOf(limits), untar);
  const written = pipeline(archive, createGzip({ level: 6 }), meter, target);
  read.catch(() => undefined);
  written.catch(() => undefined);
  try {
    const files = await repackEntries(untar, archive, limits);
    await read;
    archive.finalize();
    await written;
    return { archive: { ...measured(), path: spool }, files };
  } catch (error) {
    source.destroy();
    archive.destroy(error as Error);
    // The fault of one stream reaches the others as another one; and the file is made before the caller removes it.
    const [reading, writing] = await Promise.all([faultOf(read), faultOf(written)]);
    if (!target.closed) await new Promise<void>((resolve) => target.once('close', resolve));
    const faults = [error, reading, writing];
    const own = faults.find(isOfMachine) ?? faults.find((fault) => fault instanceof Problem);
    if (own !== undefined) throw own as Error;
    throw isOfArchive(reading) ? refusal('is not a whole tar.gz') : error;
  }
}

/** Passes what a good archive within the limits may have, whatever stands between its files. */
function boundOf({ maxBytes, maxFiles }: ArchiveLimits): Transform {
  let left = maxBytes + maxFiles * MOST_BESIDE_BYTES + MOST_END_BYTES;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(tooMuch({ maxBytes, maxFiles }));
      else done(null, chunk);
    },
  });
}

async function repackEntries(
  untar: Extract,
  archive: Pack,
  limits: ArchiveLimits,
): Promise<ArchiveFile[]> {
  const { maxBytes, maxFiles } = limits;
  const files = new Map<string, ArchiveFile>();
  const directories = new Set<string>();
  let left = maxBytes + maxFiles * HEADER_BYTES;
  let names = 0;
  for await (const entry of untar) {
    const file = fileOf(entry, files);
    noteDirectories(file, { files, directories });
    left -= file.sizeBytes + HEADER_BYTES;
    names += Buffer.byteLength(entry.header.name) + Buffer.byteLength(entry.header.linkname ?? '');
    if (left < 0 || names > MOST_NAME_BYTES || files.size >= maxFiles) {
      throw tooMuch(limits);
    }
    files.set(file.name, file);
    await addEntry(archive, entry, file);
  }
  return [...files.values()];
}

function fileOf(entry: Entry, files: ReadonlyMap<string, ArchiveFile>): ArchiveFile {
  const { name: given, type, size, mode, linkname } = entry.header;
  const name = given.replace(/\/$/, '');
  if (isSparse(entry)) throw refusal('has a sparse file');
  const fault = pathFault(name);
  if (fault !== undefined) throw refusal(`has a file whose name ${fault}`);
  if (files.has(name)) throw refusal('has a file twice');
  if (type === 'file') {
    if (!Number.isSafeInteger(size)) throw refusal('has a file whose size is no number');
    const modifiedAt = timeOf(entry);
    return {
      ...{ name, sizeBytes: size, content: Buffer.alloc(0), isExecutable: (mode & 0o100) !== 0 },
      ...(modifiedAt && { modifiedAt }),
    };
  }
  if (type === 'directory') return { name, sizeBytes: 0, content: { isDirectory: true } };
  if (type !== 'symlink') throw refusal(`has a special file (${type ?? 'of another kind'})`);
  const target = posix.normalize(posix.join(posix.dirname(name), linkname ?? ''));
  if (
    !linkname ||
    linkname.startsWith('/') ||
    (target !== '.' && pathFault(target) !== undefined)
  ) {
    throw refusal('has a link that leaves it');
  }
  return { name, sizeBytes: 0, content: { linkTo: target } };
}

/** A time that the header cannot hold stands in a record before it (POSIX pax); one that is none is left out. */
function timeOf({ header: { mtime, pax } }: Entry): Date | undefined {
  const { mtime: told = '' } = (pax ?? {}) as { mtime?: string };
  const time = PAX_TIME.test(told) ? new Date(Number(told) * 1000) : mtime;
  return time && !Number.isNaN(time.getTime()) ? time : undefined;
}

/**
 * What is wrong with a path in an archive that is packed anew; undefined when nothing is. Paths in one spelling alone, below the
 * directory, and none that takes long to look at. A program may have made names with any characters.
 */
export function pathFault(path: string): string | undefined {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  const parts = path.replace(/\/$/, '').split('/');
  if (parts.length > MAX_DEPTH) return `is deeper than ${MAX_DEPTH} directories`;
  const isBelow = (path === '' || !path.startsWith('/')) && !parts.includes('..');
  if (!isBelow) return 'must be below the directory of the job';
  if (parts.includes('')) return 'is empty';
  if (path.includes('\0')) return 'contains NUL';
  if (!isWellFormed(path)) return 'is not valid Unicode';
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)) {
    return `is longer than ${MAX_NAME_BYTES} bytes`;
  }
  return parts.includes('.') ? 'is odd' : undefined;
}

/** Throws Problem for a file below one that is no directory, whichever comes first. */
function noteDirectories(
  { name, content }: ArchiveFile,
  known: { files: ReadonlyMap<string, ArchiveFile>; directories: Set<string> },
): void {
  const { files, directories } = known;
  if (directories.has(name) && !('isDirectory' in content)) throw refusal(BELOW);
  for (let above = posix.dirname(name); above !== '.'; above = posix.dirname(above)) {
    const file = files.get(above);
    if (file && !('isDirectory' in file.content)) throw refusal(BELOW);
    if (directories.has(above)) return;
    directories.add(above);
  }
}

/** GNU tar keeps a map of the holes among the bytes of a file that seems to be an ordinary one. */
function isSparse({ header }: Entry): boolean {
  return Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse.'));
}

async function addEntry(archive: Pack, entry: Entry, file: ArchiveFile): Promise<void> {
  if (entry.header.type === 'file') {
    await pipeline(entry, archive.entry(headerOf(file)));
    return;
  }
  addInMemory(archive, file);
  entry.resume();
}

function tooMuch({ maxBytes, maxFiles }: ArchiveLimits): Problem {
  return refusal(`has more than ${maxBytes} bytes or ${maxFiles} files`);
}

function faultOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (fault: unknown) => fault,
  );
}

/** True for a full disk and the like. */
function isOfMachine(fault: unknown): boolean {
  return (fault as NodeJS.ErrnoException | undefined)?.syscall !== undefined;
}

function refusal(fault: string): Problem {
  return Problem.invalidField('archive', fault);
}

/** True for faults that the readers of tar and gzip find. */
function isOfArchive(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || code.startsWith('Z_');
}
