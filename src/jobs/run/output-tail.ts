import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The last bytes of a plain file as text; '' when there is none. The last part of the path may be no link.
 */
export function tailOf(path: string, bytes: number): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return '';
  }
  try {
    const info = fstatSync(file);
    if (!info.isFile()) return '';
    const position = Math.max(0, info.size - bytes);
    const buffer = Buffer.alloc(Math.min(bytes, info.size));
    const count = readSync(file, buffer, 0, buffer.length, position);
    return tailText(buffer.subarray(0, count), position);
  } finally {
    closeSync(file);
  }
}

/** The end of a file as text, which begins at `start`: the rest of a character that was cut there is left out. */
export function tailText(bytes: Buffer, start: number): string {
  const text = bytes.toString('utf8').replaceAll('\0', '\ufffd');
  return start === 0 ? text : text.replace(/^\ufffd+/, '');
}
