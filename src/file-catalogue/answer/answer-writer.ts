import { Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { isDatabaseAway } from '#src/database/index.js';
import {
  AnswerBody,
  ClientDisconnected,
  clientSignal,
  requireClient,
  type HttpRequest,
  type HttpResponse,
} from '#src/http/index.js';
import { AnswerSpool, SpoolClosed } from './answer-spool.js';
import { SpoolSpace } from './spool-space.js';

const CHUNK_CHARACTERS = 65_536;

/** Text of an answer, handed on in pieces: memory stays bounded however long the answer is. */
export class AnswerWriter {
  private pieces: string[] = [];
  private length = 0;

  constructor(
    private readonly send: (text: string) => Promise<void>,
    private readonly request: HttpRequest,
  ) {}

  /** To be called before every step of the source: throws ClientDisconnected when nobody waits for the answer any more. */
  requireClient(): void {
    requireClient(this.request);
  }

  /** The same for what waits itself. */
  clientSignal(): AbortSignal {
    return clientSignal(this.request);
  }

  /** Adds text; true when it is time to `flush`. */
  push(text: string): boolean {
    this.pieces.push(text);
    this.length += text.length;
    return this.length >= CHUNK_CHARACTERS;
  }

  /** Hands on what has been added. */
  async flush(): Promise<void> {
    await this.send(this.take());
  }

  /** What has been added and not been handed on. */
  take(): string {
    const text = this.pieces.join('');
    this.pieces = [];
    this.length = 0;
    return text;
  }
}

/** What an answer consists of. */
export type AnswerSource = (writer: AnswerWriter) => Promise<void>;

/**
 * Sends answers in pieces. What is thrown before the first piece is sent becomes an ordinary problem answer; later the
 * connection is cut, so that half an answer is never taken for a whole one.
 */
@Injectable()
export class AnswerSender {
  constructor(private readonly space: SpoolSpace) {}

  /**
   * Sends while it is written, at the speed of the client: `flush` waits for it. The source must hold nothing of the
   * database while it waits.
   */
  async stream(response: HttpResponse, contentType: string, write: AnswerSource): Promise<void> {
    await guarded(async () => {
      const body = new AnswerBody(response, contentType);
      const writer = new AnswerWriter((text) => body.send(text), response.req);
      await write(writer);
      body.end(writer.take());
    });
  }

  /**
   * Sends at the speed of the client what is written at the speed of the source, which never waits for the client:
   * for answers that must come from one state of the database. With `whole` nothing is sent before everything is
   * written, so that headers may depend on it.
   */
  async spool(
    response: HttpResponse,
    contentType: string,
    write: AnswerSource,
    { whole = false } = {},
  ): Promise<void> {
    const spool = new AnswerSpool(this.space);
    let sending: Promise<Error | undefined> | undefined;
    const body = new AnswerBody(response, contentType);
    const send = (): Promise<Error | undefined> => pump(spool, body);
    const writer = new AnswerWriter(async (text) => {
      await spool.add(text);
      if (!whole) sending ??= send();
    }, response.req);
    try {
      await guarded(async () => {
        await write(writer);
        if (!sending && spool.isEmpty) {
          body.end(writer.take());
          return;
        }
        await spool.add(writer.take());
        spool.end();
        const fault = await (sending ?? send());
        if (fault !== undefined) throw fault;
        body.end('');
      });
    } finally {
      await spool.close();
    }
  }
}

/** Sends what comes through the spool; answers what went wrong, and then closes it so that its writer stops. */
async function pump(spool: AnswerSpool, body: AnswerBody): Promise<Error | undefined> {
  try {
    for await (const piece of spool.read()) await body.send(piece);
    return undefined;
  } catch (fault) {
    await spool.close();
    return fault as Error;
  }
}

/** Runs the work. A client that has gone is no fault. */
async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ClientDisconnected || error instanceof SpoolClosed) return;
    throw isDatabaseAway(error)
      ? Problem.unavailable('The database is not available', { cause: error })
      : error;
  }
}
