const LEAST_BYTES = 1024;

/** Bytes that arrive in pieces of any size, kept in one piece: a million pieces of one byte cost no more than one. */
export class ByteBuffer {
  private bytes = Buffer.alloc(0);
  length = 0;

  add(piece: Uint8Array): void {
    const needed = this.length + piece.length;
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.bytes.length, LEAST_BYTES));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    this.bytes.set(piece, this.length);
    this.length = needed;
  }

  /** Everything so far; the buffer begins anew. */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.length);
    this.bytes = Buffer.alloc(0);
    this.length = 0;
    return taken;
  }
}
