import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The last bytes of a plain file as text; '' when there is none. The last part of the path may be no link; with `uid` the
 * file must belong to that account.
 */
export function tailOf(path: string, bytes: number, uid?: number): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return '';
  }
  try {
    const info = fstatSync(file);
    if (!info.isFile() || (uid !== undefined && info.uid !== uid)) return '';
    const position = Math.max(0, info.size - bytes);
    const buffer = Buffer.alloc(Math.min(bytes, info.size));
    const count = readSync(file, buffer, 0, buffer.length, position);
    const text = buffer.subarray(0, count).toString('utf8').replaceAll('\0', '\ufffd');
    return position === 0 ? text : text.replace(/^\ufffd+/, '');
  } finally {
    closeSync(file);
  }
}
