import { once } from 'node:events';
import { pipeline, type Writable } from 'node:stream';
import { constants, createGzip, gzip } from 'node:zlib';
import { ClientDisconnected } from './client-signal.js';
import { codingFor, QUICK_GZIP } from './content-coding.js';
import type { HttpResponse } from './messages.js';

/** Below it an answer fits into two packets, and compressing costs more than it saves. */
export const LEAST_COMPRESSED = 2_048;

/**
 * Answers that are being compressed at once in this process; further ones are sent as they are. A whole text takes a
 * place of the four threads that files need too, a stream 150 kB for as long as its reader likes.
 */
const MOST_WHOLE = 8;
const MOST_STREAMS = 64;
const underWay = { whole: 0, streams: 0 };

/**
 * Sends the text as the whole answer, compressed when it is long enough and the request allows: in a thread, so that
 * others do not wait. Only for answers without secrets.
 */
export function sendCompressible(response: HttpResponse, text: string): void {
  const { req: request } = response;
  if (text.length < LEAST_COMPRESSED || !isGzipWanted(response)) {
    sendWhole(response, text);
  } else if (request.method === 'HEAD') {
    response.setHeader('Content-Encoding', 'gzip'); // its length is not known without making it
    response.end();
  } else if (underWay.whole >= MOST_WHOLE) {
    sendWhole(response, text);
  } else {
    underWay.whole += 1;
    gzip(text, QUICK_GZIP, (fault, bytes) => {
      underWay.whole -= 1;
      // Answered already: it has taken longer than a request may take.
      if (response.headersSent || response.destroyed) return;
      if (!fault) response.setHeader('Content-Encoding', 'gzip');
      sendWhole(response, fault ? text : bytes);
    });
  }
}

/** Sends the bytes or text as the whole answer. */
export function sendWhole(response: HttpResponse, body: string | Buffer): void {
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/**
 * Begins an answer of unknown length and answers where to write it: a compressing stream when the request allows,
 * otherwise the response. Each piece that is written leaves at once; the stream takes no more than the client does, and
 * ends with the connection. Only for answers without secrets.
 */
export function beginCompressible(response: HttpResponse): Writable {
  if (!isGzipWanted(response)) return response;
  const isHead = response.req.method === 'HEAD';
  if (!isHead && underWay.streams >= MOST_STREAMS) return response;
  response.setHeader('Content-Encoding', 'gzip');
  if (isHead) return response;
  // From here on the answer has begun: what fails now must cut it, although its first byte is still to come.
  response.writeHead(response.statusCode);
  underWay.streams += 1;
  const stream = createGzip({ ...QUICK_GZIP, flush: constants.Z_SYNC_FLUSH });
  pipeline(stream, response, () => {
    underWay.streams -= 1;
  });
  return stream;
}

/** Writes a piece to what `beginCompressible` has answered; done when the client can take more. Throws ClientDisconnected. */
export async function sendPiece(target: Writable, piece: Buffer | string): Promise<void> {
  if (target.destroyed || target.closed) throw new ClientDisconnected();
  if (target.write(piece)) return;
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  target.once('close', onClose);
  try {
    await once(target, 'drain', { signal: gone.signal });
  } catch (cause) {
    throw new ClientDisconnected(cause);
  } finally {
    target.off('close', onClose);
  }
}

/**
 * What answers a cookie is never compressed: only a browser that signs requests of strangers by itself lets them find
 * out secrets by the lengths of answers (BREACH).
 */
function isGzipWanted(response: HttpResponse): boolean {
  response.vary('Accept-Encoding');
  const { req: request } = response;
  return request.headers.cookie === undefined && codingFor(request, ['gzip']) === 'gzip';
}

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
