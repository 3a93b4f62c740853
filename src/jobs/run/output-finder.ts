import { isUtf8 } from 'node:buffer';
import { constants, type Dirent, type Stats } from 'node:fs';
import { lstat, open, opendir, readlink, type FileHandle } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { Slices } from '#src/kernel/index.js';
import { sortedInTurns } from './name-order.js';
import { matchesPattern } from './name-pattern.js';
import type { OutputPlaces } from './output-places.js';
import { isSameContent } from './same-content.js';

/** Something that was wanted and is not brought back. */
export interface LeftOut {
  /** Path below the directory of the job; bytes that are no UTF-8 are written `\xHH`. */
  name: string;
  reason: string;
}

/** What a name that can be brought back stands for: a plain file, a link to `linkTo`, a path below the directory, or an empty directory. */
export interface Found {
  name: string;
  linkTo?: string;
  isDirectory?: true;
}

/** Directories below a wanted one. */
const MAX_DEPTH = 16;
/** As many as Linux follows. */
const MAX_LINKS = 40;
/** Names read from a directory before the event loop has its turn. */
const NAMES_AT_ONCE = 512;
/** Hidden files and what interpreters keep for themselves: nobody calls these results. */
const OF_NO_INTEREST = /^(\..*|__pycache__)$/;

/** Finds names below a directory without ever passing a link or a mount. */
export class OutputFinder {
  /** There were more names to look at than anybody looks at. */
  isCut = false;
  /** What was wanted and cannot be brought, name → reason. */
  readonly leftOut = new Map<string, string>();
  /** Names of streams of which is known whether they hide a file. */
  private readonly compared = new Set<string>();
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

  /** What is there for a name, a directory (everything below it) or a pattern with `*` and `?`. */
  async find(pattern: string): Promise<Found[]> {
    const names = /[*?]/.test(pattern) ? await this.matching(pattern) : [pattern];
    const found: Found[] = [];
    for (const name of names) {
      if (await this.hasPlainParents(name)) found.push(...(await this.expand(name, 0)));
      else await this.noteLinkedParent(name);
    }
    return found;
  }

  /** The plain file of that name, and what it is; undefined, with a reason in `leftOut`, for anything else. */
  async openPlain(name: string): Promise<{ handle: FileHandle; info: Stats } | undefined> {
    const stream = this.places.files.get(name);
    const isReachable = stream !== undefined || (await this.hasPlainParents(name));
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const path = stream ?? join(this.places.directory, name);
    const handle = isReachable
      ? await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined)
      : undefined;
    if (!handle) {
      this.leftOut.set(name, UNREADABLE);
      return undefined;
    }
    const info = await handle.stat();
    const { uid } = this.places;
    const isOwn = stream !== undefined || uid === undefined || info.uid === uid;
    if (info.isFile() && isOwn && info.dev === this.device) return { handle, info };
    this.leftOut.set(name, isOwn ? 'it is not a plain file' : 'it belongs to another account');
    await handle.close();
    return undefined;
  }

  /**
   * Names of files that the job has made, without those that `isKnown`, hidden ones and empty ones; at most `limit`, and how
   * many there are.
   */
  async others(
    isKnown: (name: string) => boolean,
    limit: number,
  ): Promise<{ names: string[]; count: number }> {
    const others = { names: [] as string[], count: 0 };
    const pending = [''];
    for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
      for (const { name, isReadable } of await this.entriesOf(directory)) {
        if (OF_NO_INTEREST.test(posix.basename(name)) || isKnown(name)) continue;
        const info = await this.infoOf(name);
        if (info?.isDirectory()) {
          pending.push(name);
          continue;
        }
        const isStream = this.places.files.has(name);
        const size = Math.max(info?.size ?? 0, isStream ? await this.streamSize(name) : 0);
        if (isReadable && (size === 0 || !(isStream || info?.isFile()))) continue;
        others.count += 1;
        if (others.names.length < limit) others.names.push(name);
      }
    }
    return others;
  }

  private async matching(pattern: string): Promise<string[]> {
    let prefixes = [''];
    for (const part of pattern.split('/')) {
      const next: string[] = [];
      for (const prefix of prefixes) {
        for (const { name, isReadable } of await this.entriesOf(prefix)) {
          if (this.slices.isOver) await this.slices.rest();
          if (!matchesPattern(posix.basename(name), part)) continue;
          if (isReadable) next.push(name);
          else this.leftOut.set(name, NO_UTF8);
        }
      }
      prefixes = next;
    }
    return prefixes;
  }

  /** True when every directory on the way to the name is one, and no link. */
  private async hasPlainParents(name: string): Promise<boolean> {
    return (await this.firstOddParent(name)) === undefined;
  }

  private async firstOddParent(name: string): Promise<string | undefined> {
    const parts = name.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const parent = parts.slice(0, depth).join('/');
      if (!(await this.infoOf(parent))?.isDirectory()) return parent;
    }
    return undefined;
  }

  /** A name that is reached through a link is named; one that is not there at all is missing. */
  private async noteLinkedParent(name: string): Promise<void> {
    const parent = (await this.firstOddParent(name)) ?? name;
    if (!(await this.infoOf(parent))?.isSymbolicLink()) return;
    this.leftOut.set(name, 'it is reached through a link: ask for it by its own path');
  }

  /** Files, links and empty directories at and below a name whose parents are plain. */
  private async expand(name: string, depth: number): Promise<Found[]> {
    const stream = this.places.files.get(name);
    if (stream !== undefined) {
      if (!this.compared.has(name) && (await this.isHiddenBy(stream, name))) {
        this.leftOut.set(name, NAME_TAKEN);
      }
      this.compared.add(name);
      return [{ name }];
    }
    const info = await this.anyInfoOf(name);
    if (!info) return [];
    if (info.dev !== this.device) return this.leave(name, 'it is on another file system');
    if (info.isDirectory()) return this.expandDirectory(name, depth);
    if (depth > MAX_DEPTH) return this.leave(name, TOO_DEEP);
    if (info.isFile()) return [{ name }];
    if (!info.isSymbolicLink()) return this.leave(name, 'it is not a plain file');
    const target = await this.targetOf(name);
    if (target === undefined) return this.leave(name, 'it is a link that leaves the directory');
    return target === LOOP
      ? this.leave(name, 'it is a link in a loop')
      : [{ name, linkTo: target }];
  }

  private async expandDirectory(directory: string, depth: number): Promise<Found[]> {
    const entries = await this.entriesOf(directory);
    if (entries.length === 0) {
      if (this.isCut || this.leftOut.has(directory)) return [];
      return depth > MAX_DEPTH
        ? this.leave(directory, TOO_DEEP)
        : [{ name: directory, isDirectory: true }];
    }
    const found: Found[] = [];
    for (const { name, isReadable } of entries) {
      if (isReadable) found.push(...(await this.expand(name, depth + 1)));
      else this.leftOut.set(name, NO_UTF8);
    }
    return found;
  }

  /** True for something of the job's that is lost since a stream has its name; an empty file, or the same bytes, are no loss. */
  private async isHiddenBy(stream: string, name: string): Promise<boolean> {
    const info = await this.infoOf(name);
    if (!info || (info.isFile() && info.size === 0)) return false;
    const { uid, directory } = this.places;
    if (!info.isFile() || (uid !== undefined && info.uid !== uid)) return true;
    return !(await isSameContent(join(directory, name), stream).catch(() => false));
  }

  private leave(name: string, reason: string): [] {
    this.leftOut.set(name, reason);
    return [];
  }

  /** Where a link leads in the end, as a path below the directory; undefined for one that leaves it. */
  private async targetOf(link: string): Promise<string | typeof LOOP | undefined> {
    let done = link.split('/');
    let left = [done.pop() ?? ''];
    let links = 0;
    for (let part = left.shift(); part !== undefined; part = left.shift()) {
      if (part === '' || part === '.') continue;
      if (part === '..') {
        if (done.pop() === undefined) return undefined;
        continue;
      }
      const path = [...done, part].join('/');
      const info = this.places.files.has(path) ? undefined : await this.anyInfoOf(path);
      if (info && info.dev !== this.device) return undefined;
      if (!info?.isSymbolicLink()) {
        done.push(part);
        continue;
      }
      links += 1;
      if (links > MAX_LINKS) return LOOP;
      const text = await readlink(join(this.places.directory, path)).catch(() => '/');
      const below = text.startsWith('/') ? this.below(text) : text;
      if (below === undefined) return undefined;
      if (text.startsWith('/')) done = [];
      left = [...below.split('/'), ...left];
    }
    return done.join('/');
  }

  /** An absolute path as one below the directory, which the job may have known by another path. */
  private below(path: string): string | undefined {
    for (const root of [this.places.seenAs, this.places.directory]) {
      if (root !== undefined && (path === root || path.startsWith(`${root}/`))) {
        return path.slice(root.length);
      }
    }
    return undefined;
  }

  private async streamSize(name: string): Promise<number> {
    return (await lstat(this.places.files.get(name) ?? '').catch(() => undefined))?.size ?? 0;
  }

  /** What is in a directory, in the order of the names. */
  private async entriesOf(directory: string): Promise<{ name: string; isReadable: boolean }[]> {
    if (!(await this.infoOf(directory))?.isDirectory()) return [];
    const odd = new Set<string>();
    const names = new Set<string>();
    for (const bytes of await this.read(directory)) {
      const name = isUtf8(bytes) ? bytes.toString('utf8') : escaped(bytes);
      names.add(name);
      if (!isUtf8(bytes)) odd.add(name);
    }
    if (directory === '') for (const stream of this.places.files.keys()) names.add(stream);
    const sorted = await sortedInTurns([...names], this.slices);
    return sorted.map((name) => ({
      name: directory === '' ? name : `${directory}/${name}`,
      isReadable: !odd.has(name),
    }));
  }

  private async read(name: string): Promise<Buffer[]> {
    const entries: Buffer[] = [];
    const options = { bufferSize: NAMES_AT_ONCE, encoding: 'buffer' as BufferEncoding };
    try {
      const directory = await opendir(join(this.places.directory, name), options);
      for await (const entry of directory as AsyncIterable<Dirent<Buffer>>) {
        this.lookedAt += 1;
        if (this.lookedAt > this.maxLookedAt) {
          this.isCut = true;
          break;
        }
        entries.push(entry.name);
      }
    } catch {
      this.leftOut.set(name || '.', UNREADABLE); // what was read of it is given
    }
    return entries;
  }

  /** What a name of this file system is; undefined when it is not there or cannot be: below a file, too long, in a loop. */
  private async infoOf(name: string): Promise<Stats | undefined> {
    const info = await this.anyInfoOf(name);
    return info?.dev === this.device ? info : undefined;
  }

  private async anyInfoOf(name: string): Promise<Stats | undefined> {
    return lstat(join(this.places.directory, name)).catch(() => undefined);
  }
}

const LOOP = Symbol('loop');
const UNREADABLE = 'it cannot be read';
const TOO_DEEP = `it is deeper than ${MAX_DEPTH} directories`;
const NAME_TAKEN =
  'the job has written a file of this name itself, and what it prints has the name: let StdOutput or StdError name another file';
const NO_UTF8 = 'its name is not UTF-8';

/** Bytes as text in which every byte beyond ASCII stands as `\xHH`. */
function escaped(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replaceAll(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}
