import { Readable } from 'node:stream';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ConnectTimeout, ReadTimeout, Timeout } from '../message/errors.js';
import { type PreparedRequest, Response, type ResponseInit } from '../message/messages.js';
import { timeoutMilliseconds, toMilliseconds } from '../message/time-limits.js';
import type { AdapterOptions } from '../message/types.js';
import type { Route } from './connections.js';
import { contentCodings, decodeContent, decodeStream, tooLarge } from './content-decoding.js';
import { toRequestException } from './failures.js';
import { isWithoutBody } from './usual-answers.js';

/** Room for the frame that a coding puts around a small body. */
const CODING_OVERHEAD_BYTES = 1024;

/**
 * One request and its response on the wire. It keeps the time limits itself: until the connection stands the connect
 * timeout, then the read timeout between signs of life (not while the reader of a streamed body pauses), and the
 * deadline over everything. Whatever ends it first decides; the connection of an unfinished exchange is dropped.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<Response>;
  #settle!: { resolve(response: Response): void; reject(error: unknown): void };
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #readMilliseconds: number | undefined;
  #onAbort: (() => void) | undefined;
  #isOver = false;
  #isWaiting = true;
  #contentEncoding: string | undefined;
  #init: ResponseInit | undefined;
  #chunks: Buffer[] = [];
  #receivedBytes = 0;
  #stream: Readable | undefined;

  constructor(
    private readonly prepared: PreparedRequest,
    private readonly options: AdapterOptions,
    private readonly route: Route,
  ) {
    this.response = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    route.line.enter();
    this.#startTimers();
    this.#listenForAbort();
  }

  /** True when it has ended, in whichever way. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Something was sent or received: silence begins anew. */
  progress(): void {
    this.#timer?.refresh();
  }

  /** Ends the exchange with an error; later ends change nothing. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#finish();
    if (this.#stream) this.#stream.destroy(error as Error);
    else this.#settle.reject(error);
    this.#controller?.abort(
      error instanceof Error ? error : new Error('aborted', { cause: error }),
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) {
      controller.abort(new Error('nobody waits any more'));
      return;
    }
    this.#stopWaiting(false);
    this.#watchSilence();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    this.progress();
    if (statusCode < 200) return;
    const { prepared, options } = this;
    const setCookies = headers['set-cookie'];
    this.#contentEncoding = headers['content-encoding'];
    this.#init = {
      status_code: statusCode,
      url: prepared.url,
      headers: joined(headers),
      request: prepared,
    };
    if (statusMessage) this.#init.reason = statusMessage;
    if (setCookies) this.#init.set_cookies = [setCookies].flat();
    if (!isWithoutBody(statusCode)) this.#checkAnnouncedLength(headers['content-length']);
    if (options.stream && !this.#isOver) this.#openStream(this.#init);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.progress();
    if (this.#stream) {
      if (!this.#stream.push(chunk)) this.#pause(controller);
      return;
    }
    this.#receivedBytes += chunk.length;
    const limit = this.options.max_response_bytes;
    if (limit !== null && this.#receivedBytes > limit + CODING_OVERHEAD_BYTES)
      this.fail(tooLarge(limit));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    const init = this.#init;
    if (this.#stream || !init) {
      this.#finish();
      this.#stream?.push(null);
      return;
    }
    const content =
      this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    const encoding = this.#contentEncoding;
    const limit = this.options.max_response_bytes;
    if (encoding === undefined && (limit === null || content.length <= limit)) {
      this.#finish();
      init.content = content;
      this.#settle.resolve(new Response(init));
      return;
    }
    decodeContent(content, contentCodings(encoding) ?? [], limit).then(
      (decoded) => {
        if (this.#isOver) return;
        this.#finish();
        this.#settle.resolve(new Response({ ...init, content: decoded }));
      },
      (error: unknown) => this.fail(error),
    );
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#isOver) return;
    this.fail(
      toRequestException(error, {
        request: this.prepared,
        isConnected: this.#controller !== undefined,
        proxied: this.route.proxied,
      }),
    );
  }

  #openStream(init: ResponseInit): void {
    const stream = new Readable({
      read: () => this.#resume(),
      destroy: (error, done) => {
        if (!this.#isOver) {
          this.#finish();
          this.#controller?.abort(error ?? new Error('the reader has closed the body'));
        }
        done(error);
      },
    });
    // An error before anybody reads must not become an uncaught exception; readers still get it.
    stream.on('error', () => undefined);
    this.#stream = stream;
    const codings = contentCodings(this.#contentEncoding) ?? [];
    const body = decodeStream(stream, codings, this.options.max_response_bytes);
    this.#settle.resolve(new Response({ ...init, body }));
  }

  #checkAnnouncedLength(contentLength: string | undefined): void {
    const limit = this.options.max_response_bytes;
    if (limit === null || contentLength === undefined || this.prepared.method === 'HEAD') return;
    const tolerance = this.#contentEncoding === undefined ? 0 : CODING_OVERHEAD_BYTES;
    if (Number(contentLength) > limit + tolerance) this.fail(tooLarge(limit));
  }

  #pause(controller: Dispatcher.DispatchController): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    controller.pause();
  }

  #resume(): void {
    if (!this.#controller?.paused) return;
    this.#watchSilence();
    this.#controller.resume();
  }

  #startTimers(): void {
    const { timeout, deadline } = this.options;
    const [connect, read] = timeoutMilliseconds(timeout);
    this.#readMilliseconds = read;
    if (connect !== undefined) {
      const details = { request: this.prepared };
      const late = (): void => this.fail(new ConnectTimeout('connecting took too long', details));
      this.#timer = setTimeout(late, connect);
    }
    if (deadline !== null) {
      const details = { request: this.prepared };
      const late = (): void => this.fail(new Timeout('the deadline has passed', details));
      this.#deadline = setTimeout(late, toMilliseconds(deadline));
    }
  }

  #watchSilence(): void {
    if (this.#readMilliseconds === undefined || this.#isOver) return;
    const late = (): void =>
      this.fail(new ReadTimeout('the server is silent for too long', { request: this.prepared }));
    this.#timer = setTimeout(late, this.#readMilliseconds);
  }

  #listenForAbort(): void {
    const { signal } = this.options;
    if (!signal) return;
    if (signal.aborted) {
      this.fail(signal.reason);
      return;
    }
    this.#onAbort = () => this.fail(signal.reason);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  #stopWaiting(hasGivenUp: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.route.line.leave(hasGivenUp);
  }

  #finish(): void {
    this.#isOver = true;
    this.#stopWaiting(true);
    clearTimeout(this.#deadline);
    if (this.#onAbort) this.options.signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** Headers with one value each; the object is the exchange's own, so it is changed in place. */
function joined(headers: IncomingHttpHeaders): Record<string, string> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) (headers as Record<string, string>)[name] = value.join(', ');
  }
  return headers as Record<string, string>;
}
