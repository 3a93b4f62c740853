import http from 'node:http';

/** A piece of a body that is not handed on alone, and as much of such pieces as is handed on at once; bytes. */
const SMALL_BYTES = 1_024;
const GATHERED_BYTES = 16 * 1_024;
/** Such pieces of all bodies in one turn of the loop; who brings more is read on in the next one. */
const MOST_PIECES = 500;

let piecesInTurn = 0;

/** Counts a piece; true when the turn has had enough of them. */
function isTurnFull(): boolean {
  if (piecesInTurn === 0) setImmediate(() => (piecesInTurn = 0));
  piecesInTurn += 1;
  return piecesInTurn > MOST_PIECES;
}

/**
 * Makes a class of messages whose body arrives in pieces of some size, whatever its client has cut it into: in chunks of
 * one byte a body comes out of the parser eleven thousand times for 64 KiB that have arrived, all in one turn of the
 * loop, and each time costs whoever reads it some microseconds. What is gathered is handed on when it is enough, when
 * the body ends, and in the next turn at the latest. Each class is a new one: its prototype may be changed.
 *
 * The parser, too, has its microsecond for each of them, and the system reads on as long as there is something: 600 kB of
 * them were one turn. So a connection is not read on in a turn that has had enough of such pieces.
 */
export function gatheredMessage(): typeof http.IncomingMessage {
  return class extends http.IncomingMessage {
    private pieces: Buffer[] = [];
    private gathered = 0;
    /** The connection is not read before the next turn. */
    private isHeld = false;
    /** Somebody has asked for more meanwhile. */
    private isWanted = false;

    override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
      if (piece === null || piece.length >= SMALL_BYTES) {
        this.handOn();
        return super.push(piece, encoding);
      }
      if (this.gathered === 0) setImmediate(() => this.handOn());
      this.pieces.push(piece);
      this.gathered += piece.length;
      const mayGoOn =
        this.gathered >= GATHERED_BYTES
          ? this.handOn()
          : this.readableLength + this.gathered < this.readableHighWaterMark;
      if (!isTurnFull()) return mayGoOn;
      this.hold();
      return false;
    }

    override _read(size: number): void {
      if (this.isHeld) this.isWanted = true;
      else super._read(size);
    }

    private hold(): void {
      if (this.isHeld) return;
      this.isHeld = true;
      setImmediate(() => {
        const isWanted = this.isWanted || this.readableLength < this.readableHighWaterMark;
        this.isHeld = this.isWanted = false;
        this.handOn();
        if (isWanted) super._read(0);
      });
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
