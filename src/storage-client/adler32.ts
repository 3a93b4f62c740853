const BASE = 65_521;
/** The most bytes whose sums stay below 2^32 (as in zlib). */
const RUN = 5552;

/** Adler-32 (RFC 1950 §8.2), the checksum that storage elements keep. */
export class Adler32 {
  private low = 1;
  private high = 0;

  update(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += RUN) {
      const end = Math.min(from + RUN, bytes.length);
      for (let place = from; place < end; place += 1) {
        this.low += bytes[place] ?? 0;
        this.high += this.low;
      }
      this.low %= BASE;
      this.high %= BASE;
    }
  }

  /** Eight hexadecimal digits. */
  get hex(): string {
    return (this.high * 0x1_0000 + this.low).toString(16).padStart(8, '0');
  }
}
