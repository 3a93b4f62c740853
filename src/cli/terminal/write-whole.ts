import { createWriteStream, type WriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { randomToken } from '#src/kernel/index.js';
import { CommandError } from './command-error.js';

/** Why a file cannot be written here. */
const NO_PLACE = new Set([
  ...['EACCES', 'EDQUOT', 'EEXIST', 'EFBIG', 'EIO', 'EISDIR', 'ENAMETOOLONG'],
  ...['ENOENT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS'],
]);

/**
 * Writes a file beside its place and gives it its name when it is whole; `write` ends the stream. When that fails there is no
 * part of it, and what was there is as it was. What is no plain file (a device, a pipe) is written as it stands. With
 * `isNew` nothing is replaced. Throws CommandError (exit code 2) with the file and the reason.
 */
export async function writeWhole(
  file: string,
  write: (output: WriteStream) => Promise<void>,
  { isNew = false, mode }: { isNew?: boolean; mode?: number } = {},
): Promise<void> {
  const old = await stat(file).catch(() => undefined);
  const isOther = old?.isFile() === false;
  const place = old?.isFile() ? await realpath(file) : file;
  const isBeside = !isNew && !isOther;
  const draft = isBeside ? join(dirname(place), `.gridgate-${randomToken(6)}.part`) : file;
  const output = createWriteStream(draft, {
    flags: isOther ? 'w' : 'wx',
    mode: mode ?? (old?.mode ?? 0o666) & 0o777,
  });
  output.on('error', () => undefined); // the writer hears of it
  try {
    await write(output);
    if (isBeside) await rename(draft, place);
  } catch (error) {
    await finished(output.destroy()).catch(() => undefined); // before that it may yet be made
    const { code = '' } = (output.errored ?? error) as NodeJS.ErrnoException;
    if (!isOther && code !== 'EEXIST') await rm(draft, { force: true });
    if (!NO_PLACE.has(code)) throw error;
    const kept = isBeside && old ? '; what was there is as it was' : '';
    throw new CommandError(`${file} cannot be written (${code})${kept}`, 2);
  }
}
