import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { CommandError } from '../terminal/command-error.js';
import { safeFileName } from '../terminal/output.js';

/**
 * Unpacks a tar.gz into the directory and answers the names of its files. Names that lead out of the directory,
 * links and devices are refused: the archive comes from a job. Characters that would act on a terminal are written
 * as %XX in the names, which are then those that are answered.
 */
export async function unpack(
  archive: AsyncIterable<Uint8Array>,
  directory: string,
): Promise<string[]> {
  const names = new Set<string>();
  await mkdir(directory, { recursive: true });
  const entries = extract();
  // Nothing is awaited from here to the loop: an entry that nobody listens for yet would be lost.
  const feeding = pipeline(Readable.from(archive), createGunzip(), entries);
  feeding.catch(() => undefined); // the loop below sees the same error
  for await (const entry of entries) {
    const { name, type, mode } = entry.header;
    if (type === 'directory') {
      entry.resume();
      continue;
    }
    const isInside = !name.startsWith('/') && !name.split('/').includes('..');
    if (type !== 'file' || !isInside) throw new CommandError(`refused to unpack ${name}`);
    const safe = safeFileName(name);
    if (names.has(safe)) throw new CommandError(`refused to unpack ${safe} twice`);
    names.add(safe);
    const path = join(directory, safe);
    await mkdir(dirname(path), { recursive: true });
    await pipeline(entry, createWriteStream(path, { mode: (mode ?? 0o644) & 0o755 }));
  }
  await feeding;
  return [...names];
}
