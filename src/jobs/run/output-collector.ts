import { constants, createReadStream, type Dirent, type Stats } from 'node:fs';
import { lstat, open, opendir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Slices } from '#src/kernel/index.js';
import type { ArchiveFile } from '../sandbox/sandbox-archive.js';
import { matchesPattern } from './name-pattern.js';
import { plainPattern } from './output-names.js';
import type { OutputPlaces } from './output-places.js';

/** What was found of the files that a job wants back. */
export interface Collected {
  files: ArchiveFile[];
  /** Names and patterns that nothing was found for. */
  missing: string[];
  /** Files that did not fit into the sandbox. */
  leftOut: string[];
  /** There were more names to look at than anybody looks at. */
  isCut: boolean;
  /** Lets go of the files; after they were packed. */
  close(): Promise<void>;
}

/** Bounds of what is collected. */
export interface CollectLimits {
  maxBytes: number;
  maxFiles: number;
  /** Names that are looked at; 100,000 unless told. */
  maxLookedAt?: number;
}

const MAX_DEPTH = 16;
const MAX_LOOKED_AT = 100_000;
const IN_MEMORY_BYTES = 64 * 1024;
/** Names read from a directory before the event loop has its turn. */
const NAMES_AT_ONCE = 512;

/**
 * Opens the files of `wanted` for packing: plain files only, of one file system. Links, devices, pipes and sockets are
 * passed over, also as directories on the way, since the service may read more than the job may. Nothing is read that
 * was not measured first, and directories of any size are read piece by piece.
 */
export async function collectOutput(
  places: OutputPlaces,
  wanted: readonly string[],
  limits: CollectLimits,
): Promise<Collected> {
  const finder = await OutputFinder.open(places, limits.maxLookedAt ?? MAX_LOOKED_AT);
  const names = new Map<string, string>();
  const missing = new Set<string>();
  for (const pattern of wanted) {
    const found = await finder.find(plainPattern(pattern));
    if (found.length === 0) missing.add(pattern);
    for (const name of found) names.set(name, pattern);
  }
  const handles: FileHandle[] = [];
  const files: ArchiveFile[] = [];
  const leftOut: string[] = [];
  let left = limits.maxBytes;
  for (const [name, pattern] of names) {
    const opened = await finder.openPlain(name);
    if (!opened) {
      missing.add(pattern);
      continue;
    }
    const { handle, info } = opened;
    if (info.size > left || files.length >= limits.maxFiles) {
      leftOut.push(name);
      await handle.close();
      continue;
    }
    left -= info.size;
    files.push(await archiveFile(handle, name, info));
    if (info.size > IN_MEMORY_BYTES) handles.push(handle);
    else await handle.close();
  }
  const close = async (): Promise<void> => {
    await Promise.all(handles.splice(0).map((handle) => handle.close()));
  };
  return { files, missing: [...missing], leftOut, isCut: finder.isCut, close };
}

async function archiveFile(handle: FileHandle, name: string, info: Stats): Promise<ArchiveFile> {
  const isExecutable = (info.mode & 0o100) !== 0;
  const modifiedAt = new Date(Math.floor(info.mtimeMs / 1000) * 1000);
  const rest = { name, sizeBytes: info.size, modifiedAt, isExecutable };
  if (info.size > IN_MEMORY_BYTES) {
    const options = { fd: handle.fd, start: 0, end: info.size - 1, autoClose: false };
    return { ...rest, content: { stream: (): Readable => createReadStream('', options) } };
  }
  const content = Buffer.alloc(info.size);
  if (info.size > 0) await handle.read(content, 0, info.size, 0);
  return { ...rest, content };
}

/** The names in their order, so that the same output is the same archive; a hundred thousand are not sorted in one turn. */
async function sortedInTurns(names: readonly string[], slices: Slices): Promise<string[]> {
  let runs: string[][] = [];
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    runs.push(names.slice(at, at + NAMES_AT_ONCE).sort());
    if (slices.isOver) await slices.rest();
  }
  while (runs.length > 1) {
    const longer: string[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(await merged(runs[at] ?? [], runs[at + 1] ?? [], slices));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

/** One sorted list of two. */
async function merged(
  left: readonly string[],
  right: readonly string[],
  slices: Slices,
): Promise<string[]> {
  const all: string[] = [];
  let at = 0;
  for (const [index, name] of left.entries()) {
    for (let other = right[at]; other !== undefined && other < name; other = right[at]) {
      all.push(other);
      at += 1;
    }
    all.push(name);
    if (index % NAMES_AT_ONCE === 0) if (slices.isOver) await slices.rest();
  }
  return all.concat(right.slice(at));
}

/** Finds names below a directory without ever passing a link or a mount. */
class OutputFinder {
  isCut = false;
  private lookedAt = 0;
  private readonly slices = new Slices();

  private constructor(
    private readonly places: OutputPlaces,
    private readonly device: number | undefined,
    private readonly maxLookedAt: number,
  ) {}

  static async open(places: OutputPlaces, maxLookedAt: number): Promise<OutputFinder> {
    const info = await lstat(places.directory).catch(() => undefined);
    return new OutputFinder(places, info?.dev, maxLookedAt);
  }

  /** Names of plain files for a name, a directory (everything below it) or a pattern with `*` and `?`. */
  async find(pattern: string): Promise<string[]> {
    if (!/[*?]/.test(pattern)) return this.expand(pattern, 0);
    let prefixes = [''];
    for (const part of pattern.split('/')) {
      const next: string[] = [];
      for (const prefix of prefixes) {
        const entries = await this.entriesOf(prefix);
        for (const entry of entries) {
          if (this.slices.isOver) await this.slices.rest();
          if (matchesPattern(entry, part)) next.push(prefix === '' ? entry : `${prefix}/${entry}`);
        }
      }
      prefixes = next;
    }
    const found: string[] = [];
    for (const name of prefixes) found.push(...(await this.expand(name, 0)));
    return found;
  }

  /** The plain file of that name, and what it is; undefined for anything else. */
  async openPlain(name: string): Promise<{ handle: FileHandle; info: Stats } | undefined> {
    const stream = this.places.files.get(name);
    if (stream === undefined && !(await this.hasPlainParents(name))) return undefined;
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const path = stream ?? join(this.places.directory, name);
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
    if (!handle) return undefined;
    const info = await handle.stat();
    const { uid } = this.places;
    const isOwn = stream !== undefined || uid === undefined || info.uid === uid;
    if (info.isFile() && isOwn && info.dev === this.device) return { handle, info };
    await handle.close();
    return undefined;
  }

  /** True when every directory on the way to the name is one, and no link. */
  private async hasPlainParents(name: string): Promise<boolean> {
    const parts = name.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const info = await this.infoOf(parts.slice(0, depth).join('/'));
      if (!info?.isDirectory()) return false;
    }
    return true;
  }

  private async expand(name: string, depth: number): Promise<string[]> {
    if (this.places.files.has(name)) return [name];
    const info = await this.infoOf(name);
    if (info?.isFile() && (await this.hasPlainParents(name))) return [name];
    if (!info?.isDirectory() || depth >= MAX_DEPTH) return [];
    const found: string[] = [];
    for (const entry of await this.entriesOf(name)) {
      found.push(...(await this.expand(`${name}/${entry}`, depth + 1)));
    }
    return found;
  }

  private async entriesOf(name: string): Promise<string[]> {
    if (!(await this.infoOf(name))?.isDirectory() || !(await this.hasPlainParents(`${name}/x`))) {
      return [];
    }
    const entries = new Set(await this.read(join(this.places.directory, name)));
    if (name === '') for (const stream of this.places.files.keys()) entries.add(stream);
    return sortedInTurns([...entries], this.slices);
  }

  private async read(path: string): Promise<string[]> {
    const entries: string[] = [];
    const directory = await opendir(path, { bufferSize: NAMES_AT_ONCE }).catch(() => undefined);
    if (!directory) return entries;
    try {
      for await (const entry of directory as AsyncIterable<Dirent>) {
        this.lookedAt += 1;
        if (this.lookedAt > this.maxLookedAt) {
          this.isCut = true;
          break;
        }
        entries.push(entry.name);
      }
    } catch {
      // What cannot be read to its end gives what was read.
    }
    return entries;
  }

  /** What a name is; undefined when it is not there or cannot be: a name below a file, too long, in a loop. */
  private async infoOf(name: string): Promise<Stats | undefined> {
    const info = await lstat(join(this.places.directory, name)).catch(() => undefined);
    return info?.dev === this.device ? info : undefined;
  }
}
