import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ArchiveFile } from '../../sandbox/sandbox-archive.js';

/** What was found of the files that a job wants back. */
export interface Collected {
  files: ArchiveFile[];
  /** Names and patterns that nothing was found for. */
  missing: string[];
  /** Files that did not fit into the sandbox. */
  leftOut: string[];
  /** Lets go of the files; after they were packed. */
  close(): void;
}

/** Bounds of what is collected. */
export interface CollectLimits {
  maxBytes: number;
  maxFiles: number;
  /** Only files of this account are taken; a hard link to somebody else's file is not. */
  uid: number | undefined;
}

const MAX_DEPTH = 16;
const MAX_LOOKED_AT = 100_000;
const IN_MEMORY_BYTES = 64 * 1024;

/**
 * Opens the files of `wanted` below `directory` for packing: plain files only. Links, devices, pipes and sockets
 * are passed over, also as directories on the way, since the service may read more than the job may.
 */
export function collectOutput(
  directory: string,
  wanted: readonly string[],
  limits: CollectLimits,
): Collected {
  const finder = new OutputFinder(directory);
  const names = new Map<string, string>();
  const missing = new Set<string>();
  for (const pattern of wanted) {
    const found = finder.find(pattern.replace(/^(\.\/)+/, '').replace(/\/$/, ''));
    if (found.length === 0) missing.add(pattern);
    for (const name of found) names.set(name, pattern);
  }
  const open: number[] = [];
  const files: ArchiveFile[] = [];
  const leftOut: string[] = [];
  let left = limits.maxBytes;
  for (const [name, pattern] of names) {
    const opened = openPlain(finder, name, limits.uid);
    if (!opened) {
      missing.add(pattern);
      continue;
    }
    const { file, info } = opened;
    if (info.size > left || files.length >= limits.maxFiles) {
      leftOut.push(name);
      closeSync(file);
      continue;
    }
    left -= info.size;
    files.push(archiveFile(file, name, info));
    if (info.size > IN_MEMORY_BYTES) open.push(file);
    else closeSync(file);
  }
  return { files, missing: [...missing], leftOut, close: () => open.splice(0).forEach(closeSync) };
}

function archiveFile(file: number, name: string, info: Stats): ArchiveFile {
  const isExecutable = (info.mode & 0o100) !== 0;
  const modifiedAt = new Date(Math.floor(info.mtimeMs / 1000) * 1000);
  const rest = { name, sizeBytes: info.size, modifiedAt, isExecutable };
  if (info.size > IN_MEMORY_BYTES) {
    const options = { fd: file, start: 0, end: info.size - 1, autoClose: false };
    return { ...rest, content: { stream: (): Readable => createReadStream('', options) } };
  }
  const content = Buffer.alloc(info.size);
  if (info.size > 0) readSync(file, content, 0, info.size, 0);
  return { ...rest, content };
}

function openPlain(
  finder: OutputFinder,
  name: string,
  uid: number | undefined,
): { file: number; info: Stats } | undefined {
  if (!finder.hasPlainParents(name)) return undefined;
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number;
  try {
    file = openSync(join(finder.directory, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined;
  }
  const info = fstatSync(file);
  if (info.isFile() && (uid === undefined || info.uid === uid)) return { file, info };
  closeSync(file);
  return undefined;
}

/** Finds names below a directory without ever passing a link. */
class OutputFinder {
  private lookedAt = 0;

  constructor(readonly directory: string) {}

  /** Names of plain files for a name, a directory (everything below it) or a pattern with `*` and `?`. */
  find(pattern: string): string[] {
    if (!/[*?]/.test(pattern)) return this.expand(pattern, 0);
    let prefixes = [''];
    for (const part of pattern.split('/')) {
      prefixes = prefixes.flatMap((prefix) =>
        this.entriesOf(prefix)
          .filter((entry) => matchesPattern(entry, part))
          .map((entry) => (prefix === '' ? entry : `${prefix}/${entry}`)),
      );
    }
    return prefixes.flatMap((name) => this.expand(name, 0));
  }

  /** True when every directory on the way to the name is one, and no link. */
  hasPlainParents(name: string): boolean {
    const parts = name.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      if (!this.infoOf(parts.slice(0, depth).join('/'))?.isDirectory()) return false;
    }
    return true;
  }

  private expand(name: string, depth: number): string[] {
    const info = this.infoOf(name);
    if (info?.isFile() && this.hasPlainParents(name)) return [name];
    if (!info?.isDirectory() || depth >= MAX_DEPTH) return [];
    return this.entriesOf(name).flatMap((entry) => this.expand(`${name}/${entry}`, depth + 1));
  }

  private entriesOf(name: string): string[] {
    if (this.lookedAt > MAX_LOOKED_AT) return [];
    if (!this.infoOf(name)?.isDirectory() || !this.hasPlainParents(`${name}/x`)) return [];
    try {
      const entries = readdirSync(join(this.directory, name));
      this.lookedAt += entries.length;
      return entries.sort();
    } catch {
      return [];
    }
  }

  /** What a name is; undefined when it is not there or cannot be: a name below a file, too long, in a loop. */
  private infoOf(name: string): Stats | undefined {
    try {
      return lstatSync(join(this.directory, name));
    } catch {
      return undefined;
    }
  }
}

/** Matches `*` and `?` in time that is at most the product of both lengths, whatever the pattern. */
export function matchesPattern(name: string, pattern: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false;
  const letters = [...name];
  const signs = [...pattern];
  let at = 0;
  let sign = 0;
  let star = -1;
  let retry = 0;
  while (at < letters.length) {
    if (signs[sign] === '*') {
      star = sign;
      sign += 1;
      retry = at;
    } else if (sign < signs.length && (signs[sign] === '?' || signs[sign] === letters[at])) {
      sign += 1;
      at += 1;
    } else if (star >= 0) {
      sign = star + 1;
      retry += 1;
      at = retry;
    } else return false;
  }
  while (signs[sign] === '*') sign += 1;
  return sign === signs.length;
}
