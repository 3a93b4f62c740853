import { once } from 'node:events';
import { isDatabaseAway, type HttpResponse } from '#src/platform/index.js';
import { Problem } from '#src/kernel/index.js';

const CHUNK_CHARACTERS = 65_536;

/** The client went away while its answer was written; nothing is left to do. */
class ClientGone extends Error {}

/** Text of an answer, written in pieces: memory stays bounded however long the answer is. */
export class AnswerWriter {
  private pieces: string[] = [];
  private length = 0;

  constructor(
    private readonly response: HttpResponse,
    private readonly contentType: string,
  ) {}

  /** Adds text; true when it is time to `flush`. */
  push(text: string): boolean {
    this.pieces.push(text);
    this.length += text.length;
    return this.length >= CHUNK_CHARACTERS;
  }

  /** Sends what has been added, at the speed of the client. */
  async flush(): Promise<void> {
    const { response } = this;
    if (response.destroyed || response.closed) throw new ClientGone();
    if (!response.headersSent) response.setHeader('Content-Type', this.contentType);
    const text = this.take();
    if (text === '' || response.write(text)) return;
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    response.once('close', onClose);
    try {
      await once(response, 'drain', { signal: gone.signal });
    } catch (cause) {
      throw new ClientGone('closed while waiting', { cause });
    } finally {
      response.off('close', onClose);
    }
  }

  /** Sends the rest and ends the answer. */
  end(): void {
    const { response } = this;
    const text = this.take();
    if (!response.headersSent) {
      response.setHeader('Content-Type', this.contentType);
      response.setHeader('Content-Length', Buffer.byteLength(text));
    }
    response.end(text);
  }

  private take(): string {
    const text = this.pieces.join('');
    this.pieces = [];
    this.length = 0;
    return text;
  }
}

/**
 * Writes an answer in pieces. What is thrown before the first piece is sent becomes an ordinary problem answer;
 * later the connection is cut, so that half an answer is never taken for a whole one.
 */
export async function streamAnswer(
  response: HttpResponse,
  contentType: string,
  write: (writer: AnswerWriter) => Promise<void>,
): Promise<void> {
  const writer = new AnswerWriter(response, contentType);
  try {
    await write(writer);
    writer.end();
  } catch (error) {
    if (error instanceof ClientGone) return;
    throw isDatabaseAway(error)
      ? Problem.unavailable('The database is not available', { cause: error })
      : error;
  }
}
