import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ArchiveFile } from '../sandbox/sandbox-archive.js';
import { OutputFinder, type Found, type LeftOut } from './output-finder.js';
import { plainPattern } from './output-names.js';
import type { OutputPlaces } from './output-places.js';

/** What was found of the files that a job wants back. */
export interface Collected {
  files: ArchiveFile[];
  /** Names and patterns that nothing was found for. */
  missing: string[];
  /** What was wanted and is not among the files, or not whole. */
  leftOut: LeftOut[];
  /** Files that the job has made and nobody has asked for: the first of their names, and how many. */
  notRequested: { names: string[]; count: number };
  /** Why not all files fit into the sandbox; undefined when they do. */
  excess: string | undefined;
  /** There were more names to look at than anybody looks at. */
  isCut: boolean;
}

/** What is asked for, and its bounds. */
export interface CollectWish {
  /** Names and patterns. */
  wanted: readonly string[];
  /** Names of the files that the job was given. */
  inputs: readonly string[];
  /** Names of the files of the catalogue that were brought to it: no output, unless they are wanted by these names. */
  fetched: readonly string[];
  /** True for the name of a file that is stored elsewhere. */
  isStored?: (name: string) => boolean;
  maxBytes: number;
  maxFiles: number;
  /** What a job may write into one file, where the kernel cuts it. */
  maxFileBytes: number;
  /** Names that are looked at; 100,000 unless told. */
  maxLookedAt?: number;
}

const MAX_LOOKED_AT = 100_000;
const MAX_NOT_REQUESTED = 100;
const IN_MEMORY_BYTES = 64 * 1024;
const PIECE_BYTES = 256 * 1024;

/**
 * Opens the files of `wanted` for packing: plain files of one file system, empty directories, and links that stay in the
 * directory, with what they lead to. Everything else is named with its reason: the service may read more than the job may, and follows no link. Nothing
 * is read that was not measured first, and directories of any size are read piece by piece.
 */
export async function collectOutput(places: OutputPlaces, wish: CollectWish): Promise<Collected> {
  const maxLookedAt = wish.maxLookedAt ?? MAX_LOOKED_AT;
  const finder = await OutputFinder.open(places, maxLookedAt);
  const { found, missing } = await findWanted(finder, wish.wanted);
  for (const name of wish.fetched) if (!wish.wanted.includes(name)) found.delete(name);
  const packing = new Packing(finder, wish);
  for (const one of found.values()) await packing.add(one);
  const { leftOut } = finder;
  const given = new Set([...wish.inputs, ...wish.fetched]);
  const isKnown = (name: string): boolean =>
    found.has(name) || leftOut.has(name) || given.has(name) || wish.isStored?.(name) === true;
  const others = await OutputFinder.open(places, maxLookedAt);
  return {
    files: packing.files,
    missing,
    leftOut: [...leftOut].map(([name, reason]) => ({ name, reason })),
    notRequested: await others.others(isKnown, MAX_NOT_REQUESTED),
    excess: packing.excess,
    isCut: finder.isCut,
  };
}

/** Everything that stands for the wanted names, each once; a link brings what it leads to. */
async function findWanted(
  finder: OutputFinder,
  wanted: readonly string[],
): Promise<{ found: Map<string, Found>; missing: string[] }> {
  const found = new Map<string, Found>();
  const missing = new Set<string>();
  for (const pattern of wanted) {
    const before = finder.leftOut.size;
    const first = await finder.find(plainPattern(pattern));
    if (first.length === 0 && finder.leftOut.size === before) missing.add(pattern);
    for (let more = first; more.length > 0;) {
      const fresh = more.filter(({ name }) => !found.has(name));
      for (const one of fresh) found.set(one.name, one);
      more = [];
      for (const { name, linkTo } of fresh) {
        if (linkTo === undefined || isAtOrAbove(linkTo, name) || found.has(linkTo)) continue;
        more.push(...(await finder.find(linkTo)));
      }
    }
  }
  return { found, missing: [...missing] };
}

/** A link to a directory that it lies in does not ask for everything there. */
function isAtOrAbove(directory: string, name: string): boolean {
  return directory === '' || name === directory || name.startsWith(`${directory}/`);
}

/** The files on their way into the archive. */
class Packing {
  readonly files: ArchiveFile[] = [];
  excess: string | undefined;
  private left: number;

  constructor(
    private readonly finder: OutputFinder,
    private readonly wish: CollectWish,
  ) {
    this.left = wish.maxBytes;
  }

  async add({ name, linkTo, isDirectory }: Found): Promise<void> {
    const { maxBytes, maxFiles, maxFileBytes } = this.wish;
    if (this.files.length >= maxFiles) {
      this.refuse(name, `the output has more than ${maxFiles} files`);
      return;
    }
    if (linkTo !== undefined) {
      this.files.push({ name, sizeBytes: 0, content: { linkTo } });
      return;
    }
    if (isDirectory) {
      this.files.push({ name, sizeBytes: 0, content: { isDirectory } });
      return;
    }
    const opened = await this.finder.openPlain(name);
    if (!opened) return;
    const { handle, info } = opened;
    try {
      if (info.size > this.left) {
        this.refuse(name, `the output is larger than ${maxBytes} bytes`);
        return;
      }
      this.left -= info.size;
      if (info.size >= maxFileBytes) this.refuse(name, `a file was cut at ${maxFileBytes} bytes`);
      this.files.push(await this.archiveFile(handle, name, info));
    } finally {
      await handle.close();
    }
  }

  private refuse(name: string, reason: string): void {
    this.excess ??= reason;
    this.finder.leftOut.set(name, reason);
  }

  private async archiveFile(handle: FileHandle, name: string, info: Stats): Promise<ArchiveFile> {
    const isExecutable = (info.mode & 0o100) !== 0;
    const modifiedAt = new Date(Math.floor(info.mtimeMs / 1000) * 1000);
    const isTime = !Number.isNaN(modifiedAt.getTime()); // a file may have the time of any 64 bits
    const rest = { name, sizeBytes: info.size, isExecutable, ...(isTime && { modifiedAt }) };
    if (info.size > IN_MEMORY_BYTES) {
      return { ...rest, content: { stream: () => Readable.from(this.pieces(name, info)) } };
    }
    const content = Buffer.alloc(info.size);
    if (info.size > 0) await handle.read(content, 0, info.size, 0);
    return { ...rest, content };
  }

  /** Opened when its turn comes, since there may be more files than a process can have open. */
  private async *pieces(name: string, { dev, ino, size }: Stats): AsyncGenerator<Buffer> {
    const opened = await this.finder.openPlain(name);
    try {
      if (opened?.info.ino !== ino || opened.info.dev !== dev) {
        throw new Error(`the file ${name} was exchanged while the output was packed`);
      }
      const options = { start: 0, end: size - 1, autoClose: false, highWaterMark: PIECE_BYTES };
      yield* opened.handle.createReadStream(options) as AsyncIterable<Buffer>;
    } finally {
      await opened?.handle.close();
    }
  }
}
