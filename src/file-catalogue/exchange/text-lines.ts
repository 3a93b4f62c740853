import { ByteBuffer, Slices } from '#src/kernel/index.js';

/** A line of a stream: its number from 1, and its text or what is wrong with its bytes. */
export type TextLine = { number: number } & ({ text: string } | { fault: string });

/** Bytes of one line at most. */
const MAX_LINE_BYTES = 1024 * 1024;

const NEWLINE = 0x0a;
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Splits a stream of bytes into lines; blank ones are counted and left out. Memory is bounded by MAX_LINE_BYTES. Others have
 * their turns in between: a chunk of 64 KiB may be of as many lines.
 */
export async function* textLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine> {
  let number = 0;
  let length = 0;
  const begun = new ByteBuffer();
  const slices = new Slices();
  const take = (): TextLine | undefined => {
    number += 1;
    const isTooLong = length > MAX_LINE_BYTES;
    const bytes = begun.take();
    length = 0;
    if (isTooLong) return { number, fault: `is longer than ${MAX_LINE_BYTES} bytes` };
    return decoded(number, bytes);
  };
  const add = (piece: Buffer): void => {
    length += piece.length;
    if (length <= MAX_LINE_BYTES) begun.add(piece);
    else begun.take();
  };
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const piece = bytes.subarray(start, end);
      start = end + 1;
      let line: TextLine | undefined;
      if (length === 0 && piece.length <= MAX_LINE_BYTES) line = decoded((number += 1), piece);
      else {
        add(piece);
        line = take();
      }
      if (line) yield line;
      if (slices.isOver) await slices.rest();
    }
    if (start < bytes.length) add(bytes.subarray(start));
  }
  const last = length > 0 ? take() : undefined;
  if (last) yield last;
}

function decoded(number: number, bytes: Buffer): TextLine | undefined {
  try {
    const text = UTF_8.decode(bytes).trim();
    return text === '' ? undefined : { number, text };
  } catch {
    return { number, fault: 'is not valid UTF-8' };
  }
}
