import type { Writable } from 'node:stream';
import {
  beginCompressible,
  ClientDisconnected,
  sendCompressible,
  sendPiece,
  type HttpResponse,
} from '#src/http/index.js';

/** The body of an answer, sent in pieces at the speed of the client, compressed when it likes. */
export class AnswerBody {
  private target: Writable | undefined;

  constructor(
    private readonly response: HttpResponse,
    private readonly contentType: string,
  ) {}

  /** Sends a piece; done when the client can take more. Throws ClientDisconnected. */
  async send(piece: string | Buffer): Promise<void> {
    if (this.response.destroyed) throw new ClientDisconnected();
    const target = (this.target ??= this.begin());
    if (piece.length > 0) await sendPiece(target, piece);
  }

  /** Sends the last piece and ends the answer. */
  end(text: string): void {
    if (this.target) {
      this.target.end(text);
      return;
    }
    this.response.setHeader('Content-Type', this.contentType);
    sendCompressible(this.response, text);
  }

  private begin(): Writable {
    this.response.setHeader('Content-Type', this.contentType);
    return beginCompressible(this.response);
  }
}
