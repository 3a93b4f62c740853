import { lstat, mkdir, realpath, rm, symlink, utimes } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { CommandError } from '../terminal/command-error.js';
import { safeFileName } from '../terminal/output.js';
import { writeWhole } from '../terminal/write-whole.js';

/**
 * Unpacks a tar.gz into the directory and answers the names of its files, and of its directories with a slash. Names
 * and links that lead out of the directory, and devices, are refused: the archive comes from a job. Nothing is written,
 * and no directory made, through a link: those of the archive are made last, and what lies below one of an archive
 * before is refused. Characters that would act on a terminal are written as %XX in the names, which are then those
 * that are answered.
 */
export async function unpack(
  archive: AsyncIterable<Uint8Array>,
  directory: string,
): Promise<string[]> {
  const names = new Set<string>();
  const links: [path: string, target: string][] = [];
  await mkdir(directory, { recursive: true });
  const root = await realpath(directory);
  const entries = extract();
  // Nothing is awaited from here to the loop: an entry that nobody listens for yet would be lost.
  const feeding = pipeline(Readable.from(archive), createGunzip(), entries);
  feeding.catch(() => undefined); // the loop below sees the same error
  for await (const entry of entries) {
    const { name, type, mode, mtime, pax, linkname } = entry.header;
    const isDirectory = type === 'directory';
    const target = type === 'symlink' ? (linkname ?? '') : undefined;
    const isPlain = type === 'file' || isDirectory || target !== undefined;
    if (!isPlain || !isInside(name) || (target !== undefined && !leadsInside(name, target))) {
      throw new CommandError(`refused to unpack ${name}`);
    }
    const safe = safeFileName(isDirectory ? name.replace(/\/$/, '') : name);
    if (names.has(safe)) throw new CommandError(`refused to unpack ${safe} twice`);
    names.add(isDirectory ? `${safe}/` : safe);
    const path = join(directory, safe);
    if (await leadsThroughLink(root, safe)) {
      const text = `refused to unpack ${safe} through a link`;
      throw new CommandError(text, 1, 'choose another directory with --directory');
    }
    await mkdir(dirname(path), { recursive: true });
    if (isDirectory) {
      entry.resume();
      await mkdir(path).catch(async (error: unknown) => {
        if (!(await lstat(path)).isDirectory()) throw error;
      });
      continue;
    }
    if (target === undefined) {
      const old = await lstat(path).catch(() => undefined);
      if (old?.isFile() === false && !old.isDirectory()) await rm(path); // a link of an earlier time
      await writeWhole(path, (output) => pipeline(entry, output), {
        mode: (mode ?? 0o644) & 0o755,
      });
      // A time that the header cannot hold stands in a record before it (POSIX pax).
      const { mtime: seconds } = (pax ?? {}) as { mtime?: string };
      const time = seconds === undefined ? mtime : Number(seconds);
      if (time !== undefined) await utimes(path, time, time);
      continue;
    }
    await rm(path, { force: true });
    links.push([path, safeFileName(target)]);
    entry.resume();
  }
  await feeding;
  for (const [path, target] of links) await symlink(target, path);
  return [...names];
}

/** Whether a link stands among the directories of a name, as far as they are there. */
async function leadsThroughLink(root: string, name: string): Promise<boolean> {
  let place = dirname(join(root, name));
  while (place !== root && !(await lstat(place).catch(() => undefined))) place = dirname(place);
  return (await realpath(place).catch(() => undefined)) !== place;
}

function isInside(path: string): boolean {
  return !path.startsWith('/') && !path.split('/').includes('..');
}

/** Whether a link stays in the archive whatever other links there are: its `..` stand at its begin. */
function leadsInside(name: string, target: string): boolean {
  const isDirect = !target.startsWith('/') && target === posix.normalize(target);
  return isDirect && isInside(posix.join(posix.dirname(name), target));
}
