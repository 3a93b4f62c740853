import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { relativePathFault } from '../manifest/file-name.js';
import type { OutputPlaces } from './output-places.js';

/** Which bytes of a file of the output are wanted. */
export interface OutputWish {
  name: string;
  /** The first byte; less than nothing counts from the end of the file. */
  start: number;
  mostBytes: number;
}

/** Bytes of a file of the output, as it is at this moment. */
export interface OutputPart {
  sizeBytes: number;
  /** Changes when the job puts another file in its place. */
  file: string;
  /** Milliseconds since 1970. */
  modifiedMs: number;
  /** Where `content` begins in the file. */
  start: number;
  content: Buffer;
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Reads of a file that its job may be writing; undefined when there is no plain file of the job by that name. The job
 * lives and can exchange every directory on the way at any moment, so each is opened below the one before, never
 * through a link, and what was opened is looked at, not what a name stands for.
 */
export async function readOutput(
  places: OutputPlaces,
  wish: OutputWish,
): Promise<OutputPart | undefined> {
  const stream = places.files.get(wish.name);
  const opened = stream === undefined ? openBelow(places, wish.name) : openPlain(stream);
  const handle = await opened.catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return undefined; // not there, or nothing that can be read at once
  });
  if (!handle) return undefined;
  try {
    const info = await handle.stat();
    const isOwn = stream !== undefined || places.uid === undefined || info.uid === places.uid;
    return info.isFile() && isOwn ? await readPart(handle, info, wish) : undefined;
  } finally {
    await handle.close();
  }
}

async function readPart(
  handle: FileHandle,
  info: Stats,
  { start: wanted, mostBytes }: OutputWish,
): Promise<OutputPart> {
  const { size: sizeBytes, dev, ino, mtimeMs: modifiedMs } = info;
  const start = wanted < 0 ? Math.max(0, sizeBytes + wanted) : wanted;
  const buffer = Buffer.alloc(Math.max(0, Math.min(mostBytes, sizeBytes - start)));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  const content = buffer.subarray(0, bytesRead);
  return { sizeBytes, file: `${dev}.${ino}`, modifiedMs, start, content };
}

function openPlain(path: string): Promise<FileHandle> {
  return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

/** The file below the directory of the job, on the same file system. */
async function openBelow(places: OutputPlaces, name: string): Promise<FileHandle | undefined> {
  if (relativePathFault(name) !== undefined) return undefined;
  const parents = name.split('/');
  const last = parents.pop() ?? '';
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;
  let directory = await open(places.directory, flags);
  try {
    const { dev } = await directory.stat();
    for (const parent of parents) {
      const next = await open(within(directory, parent), flags);
      await directory.close();
      directory = next;
    }
    const file = await openPlain(within(directory, last));
    if ((await file.stat()).dev === dev) return file;
    await file.close();
    return undefined;
  } finally {
    await directory.close();
  }
}

/** A name in an open directory, wherever that is now: what `openat` does, which Node does not have. */
function within(directory: FileHandle, name: string): string {
  return join('/proc/self/fd', String(directory.fd), name);
}
