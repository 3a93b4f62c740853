import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chown, constants, mkdir, open, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { Transform, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGunzip, createGzip, gzipSync } from 'node:zlib';
import { extract, pack, type Extract, type Pack } from 'tar-stream';
import { relativePathFault } from '../manifest/file-name.js';
import { SandboxDamagedError, type KeptArchive, type NewArchive } from './sandbox.store.js';

/** A file to pack: its name in the archive and where its bytes are. */
export interface ArchiveFile {
  name: string;
  sizeBytes: number;
  /**
   * Where the bytes come from: memory, a file, or a stream of exactly `sizeBytes`. Or there are none: `linkTo` of a link is the
   * path in the archive to which it leads, in or out of the list of files, and a directory is empty.
   */
  content:
    | Buffer
    | { path: string }
    | { stream: () => Readable }
    | { linkTo: string }
    | { isDirectory: true };
  modifiedAt?: Date;
  isExecutable?: boolean;
}

/** Whom unpacked files belong to. */
export interface FileOwner {
  uid: number;
  gid: number;
}

type Entry = Extract extends AsyncIterable<infer T> ? T : never;

/** Equal files give equal archives, so the time of uploaded files is a fixed one (tar warns of 1970). */
const FIXED_TIME = new Date('1980-01-01T00:00:00Z');
const SMALL_BYTES = 256 * 1024;
/** So many headers are written in one turn of the event loop: empty files have no bytes, but cost as much. */
const SMALL_FILES = 100;
const LARGE_BYTES = 64 * 1024 * 1024;

/** Packs files into a tar.gz: in memory when they are few bytes, else into the file `spool` (streamed). */
export async function packArchive(
  files: readonly ArchiveFile[],
  spool: string,
): Promise<NewArchive> {
  const total = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const isSmall = total <= SMALL_BYTES && files.length <= SMALL_FILES;
  if (isSmall && files.every(isInMemory)) return packSmall(files);
  const { meter, measured } = archiveMeter();
  const archive = pack();
  // One byte differs in the gzip header between systems; level and memory are fixed so that content decides.
  const zip = createGzip({ level: total > LARGE_BYTES ? 1 : 6 });
  const written = pipeline(archive, zip, meter, createWriteStream(spool, { mode: 0o600 }));
  await Promise.all([written, addAll(archive, files)]);
  return { ...measured(), path: spool };
}

/** Lets bytes pass; `measured` answers their SHA-256 and their number, once they have. */
export function archiveMeter(): { meter: Transform; measured: () => KeptArchive } {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  return { meter, measured: () => ({ hash: hash.digest('hex'), sizeBytes }) };
}

async function packSmall(files: readonly ArchiveFile[]): Promise<NewArchive> {
  const archive = pack();
  for (const file of files) addInMemory(archive, file);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  const content = gzipSync(Buffer.concat(chunks), { level: 6 });
  const hash = createHash('sha256').update(content).digest('hex');
  return { hash, sizeBytes: content.length, content };
}

async function addAll(archive: Pack, files: readonly ArchiveFile[]): Promise<void> {
  try {
    for (const [index, file] of files.entries()) {
      await add(archive, file);
      if (index % SMALL_FILES === 0) await setImmediate();
    }
    archive.finalize();
  } catch (error) {
    archive.destroy(error as Error);
    throw error;
  }
}

async function add(archive: Pack, file: ArchiveFile): Promise<void> {
  const { content } = file;
  if ('path' in content) {
    await pipeline(createReadStream(content.path), archive.entry(headerOf(file)));
  } else if ('stream' in content) {
    await pipeline(content.stream(), archive.entry(headerOf(file)));
  } else addInMemory(archive, file);
}

function isInMemory({ content }: ArchiveFile): boolean {
  return !('path' in content || 'stream' in content);
}

/** Adds what has no bytes elsewhere: a file in memory, a link, an empty directory. */
export function addInMemory(archive: Pack, { content, ...file }: ArchiveFile): void {
  const header = headerOf(file);
  if (Buffer.isBuffer(content)) archive.entry(header, content);
  else if ('linkTo' in content) {
    const linkname = posix.relative(posix.dirname(file.name), content.linkTo) || '.';
    archive.entry({ ...header, type: 'symlink', mode: 0o777, linkname });
  } else archive.entry({ ...header, name: `${file.name}/`, type: 'directory', mode: 0o755 });
}

/** Header of a plain file; times that do not fit have a record of their own. */
export function headerOf(file: Omit<ArchiveFile, 'content'>): Parameters<Pack['entry']>[0] {
  const modifiedAt = file.modifiedAt ?? FIXED_TIME;
  const seconds = Math.floor(modifiedAt.getTime() / 1_000);
  // tar-stream writes a number of 31 bits; any other time has a record of its own (POSIX pax).
  const fits = seconds >= 0 && seconds < 2 ** 31;
  return {
    name: file.name,
    size: file.sizeBytes,
    mode: file.isExecutable ? 0o755 : 0o644,
    mtime: fits ? modifiedAt : FIXED_TIME,
    ...(!fits && { pax: { mtime: String(seconds) } }),
    type: 'file',
    uid: 0,
    gid: 0,
  };
}

/**
 * Unpacks an archive of ours into a fresh directory. Only plain files below it are written, whatever the archive
 * says, and never through a link. Throws Error for anything else and above `maxBytes`, and SandboxDamagedError when it is no
 * whole archive.
 */
export async function unpackArchive(
  source: Readable,
  directory: string,
  options: { maxBytes: number; owner?: FileOwner },
): Promise<void> {
  const untar = extract();
  const reading = pipeline(source, createGunzip(), untar);
  reading.catch(() => undefined);
  try {
    await unpackEntries(untar, directory, options);
    await reading;
  } catch (cause) {
    throw isOfGzip(cause) ? damagedBytes(cause) : cause;
  }
}

async function unpackEntries(
  untar: Extract,
  directory: string,
  options: { maxBytes: number; owner?: FileOwner },
): Promise<void> {
  let left = options.maxBytes;
  for await (const entry of untar) {
    const { name, type, size, mode } = entry.header;
    const fault = relativePathFault(name);
    if (type !== 'file' || fault !== undefined)
      throw new Error(`bad entry in the archive: ${type}`);
    left -= size;
    if (left < 0) throw new Error(`the archive holds more than ${options.maxBytes} bytes`);
    const path = join(directory, name);
    if (name.includes('/')) await mkdir(dirname(path), { recursive: true });
    await writeEntry(entry, path, (mode & 0o111) === 0 ? 0o644 : 0o755);
    if (options.owner) await chown(path, options.owner.uid, options.owner.gid);
  }
}

async function writeEntry(entry: Entry, path: string, mode: number): Promise<void> {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
  const handle = await open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode);
  try {
    await writeFile(handle, entry as AsyncIterable<Buffer>); // one write alone may take less than it is given
  } finally {
    await handle.close();
  }
}

/**
 * Writes one file of an archive, or part of it, to `target`, and reads no further than needed. Throws SandboxDamagedError
 * when the archive cannot be unpacked or has no such file.
 */
export async function copyFileOfArchive(
  source: Readable,
  name: string,
  target: Writable,
  range: { start: number; end: number },
): Promise<void> {
  const untar = extract();
  const reading = pipeline(source, createGunzip(), untar);
  reading.catch(() => undefined);
  try {
    for await (const entry of untar) {
      if (entry.header.name !== name) {
        entry.resume();
        continue;
      }
      await pipeline(entry, cut(range), target);
      return;
    }
    throw new SandboxDamagedError('it has not the file that was kept in it');
  } catch (cause) {
    throw isOfGzip(cause) ? damagedBytes(cause) : cause;
  } finally {
    source.destroy();
  }
}

function isOfGzip(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith('Z_');
}

function damagedBytes(cause: unknown): SandboxDamagedError {
  return new SandboxDamagedError('its bytes are not those that were kept', { cause });
}

/** Lets the bytes from `start` to `end` (included) pass. */
function cut(range: { start: number; end: number }): Transform {
  let position = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const from = Math.max(0, range.start - position);
      const to = Math.min(chunk.length, range.end + 1 - position);
      position += chunk.length;
      done(null, from < to ? chunk.subarray(from, to) : undefined);
    },
  });
}
