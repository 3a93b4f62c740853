import type { Stats } from 'node:fs';
import {
  link,
  open,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { randomToken } from '#src/kernel/index.js';
import { CommandError } from './command-error.js';

/** Why a file cannot be written here. */
const NO_PLACE = new Set([
  ...['EACCES', 'EBUSY', 'EDQUOT', 'EEXIST', 'EFBIG', 'EIO', 'EISDIR', 'ENAMETOOLONG'],
  ...['ENOENT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS'],
]);

/** Why a new file cannot be made beside a file that may itself be written. */
const NO_NEIGHBOUR = new Set(['EACCES', 'EBUSY', 'EPERM', 'EROFS']);

/**
 * Writes a file beside its place and gives it its name when it is whole; `write` ends the stream. When that fails there is no
 * part of it, and what was there is as it was. Written as it stands is what is no plain file (a device, a pipe), has several
 * names or another owner, or lies where no file can be made. With `isNew` nothing is replaced. Throws CommandError (exit
 * code 2) with the file and the reason.
 */
export async function writeWhole(
  file: string,
  write: (output: Writable) => Promise<void>,
  { isNew = false, mode }: { isNew?: boolean; mode?: number } = {},
): Promise<void> {
  const { place, old } = await placeOf(file);
  const { handle, draft } = await openDraft(place, { isNew, old, mode }).catch((error: unknown) => {
    throw faultOf(error, file, false);
  });
  const output = handle.createWriteStream();
  output.on('error', () => undefined); // the writer hears of it
  try {
    await write(output);
    if (draft !== undefined && isNew) await giveNewName(draft, place);
    else if (draft !== undefined) await rename(draft, place);
  } catch (error) {
    await finished(output.destroy()).catch(() => undefined);
    if (draft !== undefined) await rm(draft, { force: true });
    throw faultOf(output.errored ?? error, file, draft !== undefined && old !== undefined);
  }
}

/** Where the file is, behind links, and what is there; a link to nothing is followed, too. */
async function placeOf(file: string): Promise<{ place: string; old: Stats | undefined }> {
  const old = await stat(file).catch(() => undefined);
  if (old) return { place: await realpath(file), old };
  const target = await readlink(file).catch(() => undefined);
  return { place: target === undefined ? file : resolve(dirname(file), target), old };
}

/** Opens what is written to: a draft beside the place, or without `draft` the place itself. */
async function openDraft(
  place: string,
  { isNew, old, mode }: { isNew: boolean; old: Stats | undefined; mode: number | undefined },
): Promise<{ handle: FileHandle; draft?: string }> {
  if (isNew && old?.isFile()) throw Object.assign(new Error('it is there'), { code: 'EEXIST' });
  if (old && !(old.isFile() && old.nlink === 1 && old.uid === process.getuid?.())) {
    return { handle: await open(place, 'w', mode) };
  }
  const draft = join(dirname(place), `.gridgate-${randomToken(6)}.part`);
  try {
    const handle = await open(draft, 'wx', mode);
    if (old && mode === undefined) await handle.chmod(old.mode & 0o777);
    return { handle, draft };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (old === undefined || !NO_NEIGHBOUR.has(code)) throw error;
    return { handle: await open(place, 'w') };
  }
}

/** Never takes a name that somebody else has taken meanwhile, where the file system has a way to say so. */
async function giveNewName(draft: string, place: string): Promise<void> {
  try {
    await link(draft, place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    await rename(draft, place); // no links there
    return;
  }
  await rm(draft);
}

function faultOf(error: unknown, file: string, isKept: boolean): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (!NO_PLACE.has(code)) return error;
  const kept = isKept ? '; what was there is as it was' : '';
  return new CommandError(`${file} cannot be written (${code})${kept}`, 2);
}
