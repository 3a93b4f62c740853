import { ByteBuffer, Slices } from '#src/kernel/index.js';

/** A line of a stream: its number from 1, and its text or what is wrong with its bytes. */
export type TextLine = { number: number } & ({ text: string } | { fault: string });

/** Bytes of one line at most. */
const MAX_LINE_BYTES = 1024 * 1024;

/** Bytes that are split at once. */
const BLOCK_BYTES = 64 * 1024;

const NEWLINE = 0x0a;
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** The lines of `lineBlocks` one by one. */
export async function* textLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine> {
  for await (const block of lineBlocks(source)) yield* block;
}

/**
 * Splits a stream of bytes into lines, some at a time; blank ones are counted and left out. Memory is bounded by MAX_LINE_BYTES
 * and a piece of the stream. Others have their turns in between: a chunk of 64 KiB may be of as many lines.
 */
export async function* lineBlocks(source: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  const lines = new LineSplitter();
  const slices = new Slices();
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      const block = lines.add(bytes.subarray(at, at + BLOCK_BYTES));
      if (block.length > 0) yield block;
      if (slices.isOver) await slices.rest();
    }
  }
  const last = lines.end();
  if (last) yield [last];
}

class LineSplitter {
  private number = 0;
  private length = 0;
  private readonly begun = new ByteBuffer();

  /** The lines that end in these bytes. */
  add(bytes: Buffer): TextLine[] {
    const found: TextLine[] = [];
    let start = 0;
    if (this.length > 0) {
      const end = bytes.indexOf(NEWLINE);
      this.begin(end < 0 ? bytes : bytes.subarray(0, end));
      if (end < 0) return found;
      const line = this.end();
      if (line) found.push(line);
      start = end + 1;
    }
    const last = bytes.lastIndexOf(NEWLINE);
    if (last >= start) this.whole(bytes.subarray(start, last), found);
    const rest = bytes.subarray(Math.max(start, last + 1));
    if (rest.length > 0) this.begin(rest);
    return found;
  }

  /** The line that has begun; undefined when it is blank, or none has. */
  end(): TextLine | undefined {
    if (this.length === 0) return undefined;
    this.number += 1;
    const isTooLong = this.length > MAX_LINE_BYTES;
    const bytes = this.begun.take();
    this.length = 0;
    if (isTooLong) {
      return { number: this.number, fault: `is longer than ${MAX_LINE_BYTES} bytes` };
    }
    return decoded(this.number, bytes);
  }

  private begin(piece: Buffer): void {
    this.length += piece.length;
    if (this.length <= MAX_LINE_BYTES) this.begun.add(piece);
    else this.begun.take();
  }

  /** Whole lines are decoded together, and one by one only to find out which of them cannot be. */
  private whole(bytes: Buffer, found: TextLine[]): void {
    let text: string | undefined;
    try {
      text = UTF_8.decode(bytes);
    } catch {
      for (let start = 0; start <= bytes.length;) {
        const newline = bytes.indexOf(NEWLINE, start);
        const end = newline < 0 ? bytes.length : newline;
        const line = decoded((this.number += 1), bytes.subarray(start, end));
        if (line) found.push(line);
        start = end + 1;
      }
      return;
    }
    for (const piece of text.split('\n')) {
      this.number += 1;
      const line = piece.trim();
      if (line !== '') found.push({ number: this.number, text: line });
    }
  }
}

function decoded(number: number, bytes: Buffer): TextLine | undefined {
  try {
    const text = UTF_8.decode(bytes).trim();
    return text === '' ? undefined : { number, text };
  } catch {
    return { number, fault: 'is not valid UTF-8' };
  }
}
