import { createHash, type Hash } from 'node:crypto';
import { Adler32 } from './adler32.js';

const HASHES = new Set(['md5', 'sha1', 'sha256', 'sha512']);

/** Size and checksums of bytes as they come, beside what the catalogue knows of the file. */
export class Checksums {
  private bytes = 0;
  private readonly sums = new Map<string, { sum: Adler32 | Hash; wanted: string }>();

  /** `wanted` has checksums by their kind; one of an unknown kind is not compared. */
  constructor(
    private readonly size: number,
    wanted: Readonly<Record<string, string>>,
  ) {
    for (const [kind, text] of Object.entries(wanted)) {
      const name = kind.replaceAll('-', '');
      const sum =
        name === 'adler32' ? new Adler32() : HASHES.has(name) ? createHash(name) : undefined;
      // Numbers are written without the zeros before them, too.
      const digits = text.toLowerCase().padStart(8, '0');
      if (sum) this.sums.set(kind, { sum, wanted: digits });
    }
  }

  /** Takes the next bytes. Answers what is wrong already, as a sentence. */
  update(piece: Uint8Array): string | undefined {
    this.bytes += piece.length;
    for (const { sum } of this.sums.values()) sum.update(piece);
    return this.bytes > this.size ? `it has more than ${this.size} bytes` : undefined;
  }

  /** What is wrong with all of them; undefined when they are the file. */
  fault(): string | undefined {
    if (this.bytes !== this.size) return `it has ${this.bytes} of ${this.size} bytes`;
    for (const [kind, { sum, wanted }] of this.sums) {
      const found = sum instanceof Adler32 ? sum.hex : sum.digest('hex');
      if (found !== wanted) return `its ${kind} is ${found}, in the catalogue ${wanted}`;
    }
    return undefined;
  }
}
