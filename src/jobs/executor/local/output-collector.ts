import { constants } from 'node:fs';
import { lstat, open, readdir, type FileHandle } from 'node:fs/promises';
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
  close(): Promise<void>;
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
export async function collectOutput(
  directory: string,
  wanted: readonly string[],
  limits: CollectLimits,
): Promise<Collected> {
  const names = new Map<string, string>();
  const missing: string[] = [];
  for (const pattern of wanted) {
    const found = await find(directory, pattern.replace(/^(\.\/)+/, '').replace(/\/$/, ''));
    if (found.length === 0) missing.push(pattern);
    for (const name of found) names.set(name, pattern);
  }
  const handles: FileHandle[] = [];
  const files: ArchiveFile[] = [];
  const leftOut: string[] = [];
  let left = limits.maxBytes;
  for (const [name, pattern] of names) {
    const handle = await openPlain(directory, name, limits.uid);
    if (!handle) {
      missing.push(pattern);
      continue;
    }
    const info = await handle.stat();
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
  return {
    files,
    missing: [...new Set(missing)],
    leftOut,
    close: async () => {
      for (const handle of handles) await handle.close().catch(() => undefined);
    },
  };
}

async function archiveFile(
  handle: FileHandle,
  name: string,
  info: { size: number; mtime: Date; mode: number },
): Promise<ArchiveFile> {
  const isExecutable = (info.mode & 0o100) !== 0;
  const modifiedAt = new Date(Math.floor(info.mtime.getTime() / 1000) * 1000);
  if (info.size > IN_MEMORY_BYTES) {
    const stream = (): Readable =>
      handle.createReadStream({ start: 0, end: info.size - 1, autoClose: false });
    return { name, sizeBytes: info.size, content: { stream }, modifiedAt, isExecutable };
  }
  const content = Buffer.alloc(info.size);
  if (info.size > 0) await handle.read(content, 0, info.size, 0);
  return { name, sizeBytes: info.size, content, modifiedAt, isExecutable };
}

async function openPlain(
  directory: string,
  name: string,
  uid: number | undefined,
): Promise<FileHandle | undefined> {
  if (!(await hasPlainParents(directory, name))) return undefined;
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const path = join(directory, name);
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (!handle) return undefined;
  const info = await handle.stat();
  if (info.isFile() && (uid === undefined || info.uid === uid)) return handle;
  await handle.close();
  return undefined;
}

async function hasPlainParents(directory: string, name: string): Promise<boolean> {
  const parts = name.split('/').slice(0, -1);
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const info = await lstat(join(directory, ...parts.slice(0, depth))).catch(() => undefined);
    if (!info?.isDirectory()) return false;
  }
  return true;
}

/** Names of plain files for a name, a directory (everything below it) or a pattern with `*` and `?`. */
async function find(directory: string, pattern: string): Promise<string[]> {
  const budget = { left: MAX_LOOKED_AT };
  if (!/[*?]/.test(pattern)) return expand(directory, pattern, 0, budget);
  const parts = pattern.split('/');
  let prefixes = [''];
  for (const part of parts) {
    const matches: string[] = [];
    for (const prefix of prefixes) {
      for (const entry of await entriesOf(directory, prefix, budget)) {
        if (matchesPattern(entry, part)) matches.push(prefix === '' ? entry : `${prefix}/${entry}`);
      }
    }
    prefixes = matches;
  }
  const found = await Promise.all(prefixes.map((name) => expand(directory, name, 0, budget)));
  return found.flat();
}

async function expand(
  directory: string,
  name: string,
  depth: number,
  budget: { left: number },
): Promise<string[]> {
  const info = await lstat(join(directory, name)).catch(() => undefined);
  if (info?.isFile() && (await hasPlainParents(directory, name))) return [name];
  if (!info?.isDirectory() || depth >= MAX_DEPTH) return [];
  const names: string[] = [];
  for (const entry of await entriesOf(directory, name, budget)) {
    names.push(...(await expand(directory, `${name}/${entry}`, depth + 1, budget)));
  }
  return names;
}

async function entriesOf(
  directory: string,
  name: string,
  budget: { left: number },
): Promise<string[]> {
  if (budget.left <= 0) return [];
  const path = join(directory, name);
  const info = await lstat(path).catch(() => undefined);
  if (!info?.isDirectory() || !(await hasPlainParents(directory, `${name}/x`))) return [];
  const entries = await readdir(path).catch(() => []);
  budget.left -= entries.length;
  return entries.sort();
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
