import http from 'node:http';

/** A piece of a body that is not handed on alone, and as much of such pieces as is handed on at once; bytes. */
const SMALL_BYTES = 1_024;
const GATHERED_BYTES = 16 * 1_024;

/**
 * Makes a class of messages whose body arrives in pieces of some size, whatever its client has cut it into: in chunks of
 * one byte a body comes out of the parser eleven thousand times for 64 KiB that have arrived, all in one turn of the
 * loop, and each time costs whoever reads it some microseconds. What is gathered is handed on when it is enough, when
 * the body ends, and in the next turn at the latest. Each class is a new one: its prototype may be changed.
 */
export function gatheredMessage(): typeof http.IncomingMessage {
  return class extends http.IncomingMessage {
    private pieces: Buffer[] = [];
    private gathered = 0;

    override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
      if (piece === null || piece.length >= SMALL_BYTES) {
        this.handOn();
        return super.push(piece, encoding);
      }
      if (this.gathered === 0) setImmediate(() => this.handOn());
      this.pieces.push(piece);
      this.gathered += piece.length;
      if (this.gathered >= GATHERED_BYTES) return this.handOn();
      return this.readableLength + this.gathered < this.readableHighWaterMark;
    }

    private handOn(): boolean {
      const { pieces } = this;
      if (pieces.length === 0) return true;
      this.pieces = [];
      this.gathered = 0;
      return this.destroyed || super.push(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
    }
  };
}
