import { isUtf8 } from 'node:buffer';

const NEWLINE = 0x0a;

/** Bytes that people gave as text are no UTF-8; the message says in which line, and what to do. */
export class EncodingError extends Error {
  constructor(line: number) {
    super(
      `line ${line} is not UTF-8; save the file in this encoding (of Latin-1, iconv -f LATIN1 -t UTF-8 makes it)`,
    );
    this.name = 'EncodingError';
  }
}

/**
 * The text of bytes in UTF-8, without a byte order mark at its start; they begin with line `firstLine`. Throws EncodingError
 * for bytes of any other encoding, which would become U+FFFD, so that another name would be meant.
 */
export function utf8Text(bytes: Uint8Array, firstLine = 1): string {
  if (!isUtf8(bytes)) throw new EncodingError(firstLine + brokenLine(bytes));
  return new TextDecoder().decode(bytes);
}

/** How many lines stand before the first that is no UTF-8. */
function brokenLine(bytes: Uint8Array): number {
  let line = 0;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
